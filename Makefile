# The two commands of the README (`make decide`, `make test`) and what they stand on.
