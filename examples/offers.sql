CREATE TABLE offer(name TEXT PRIMARY KEY, price REAL, delivery_days INTEGER);
INSERT INTO offer VALUES ('ash', 7.5, 2);
INSERT INTO offer VALUES ('birch', 5.25, 6);
INSERT INTO offer VALUES ('cedar', 6, 3);
