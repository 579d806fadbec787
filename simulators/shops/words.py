"""Names of people, companies, things and places for generated shops."""

import random

from planweave.simulators.names import invent

_FIRST = (
    "Ada Alan Amir Anna Boris Carla Chen Clara David Dina Elena Emil Erik Fatima Felix Greta Hana "
    "Hugo Ida Ivan Jonas Julia Karim Kira Lars Lea Leon Lina Maya Milan Mona Nadia Nils Nora Omar "
    "Paula Pedro Rita Rosa Sami Sara Selma Theo Tomas Vera Viktor Wanda Yara Yusuf Zoe"
).split()
_LAST = (
    "Abel Adler Almeida Bauer Becker Berg Costa Dahl Diaz Egger Fischer Fontana Garcia Haas Hansen "
    "Ito Jansen Kaya Keller Kim Kovac Larsen Lopez Mayer Meyer Molnar Moretti Nagy Novak Okafor "
    "Olsen Park Petrov Popov Rossi Roth Sato Silva Simon Soler Stein Tanaka Toth Vogel Wagner Wolf "
    "Yilmaz Zeman"
).split()
_LOOKS = "Black Blue Classic Compact Deluxe Grey Light Mini Oak Red Round Silver Slim White".split()
_THINGS = (
    "Bench Bottle Cabinet Chair Clock Desk Drawer Fan Heater Kettle Lamp Mirror Mug Pan Rack Shelf "
    "Sofa Stool Table Vase"
).split()
_FORMS = ("Ltd", "& Sons", "Trading", "Logistics", "Group", "Supplies", "Partners")

PEOPLE = [f"{first} {last}" for first in _FIRST for last in _LAST]
PRODUCTS = [f"{look} {thing}" for look in _LOOKS for thing in _THINGS]
CITIES = (
    "Aarhus Bergen Bilbao Bologna Bremen Brno Cork Gdansk Ghent Graz Lille Linz Lyon Malmo Nantes "
    "Porto Riga Split Tampere Turin Utrecht Vilnius"
).split()
ROOMS = (
    "Acorn Alder Amber Aspen Birch Cedar Coral Elm Fjord Garnet Hazel Iris Jade Juniper Larch "
    "Lotus Maple Olive Onyx Opal Pearl Pine Ruby Tulip Willow"
).split()
BUILDINGS = "Bakery,Gate House,Harbour Hall,New Wing,North House,Old Mill,Station".split(",")
DEPARTMENTS = (
    "Accounting Design Development Export Legal Logistics Marketing Production Purchasing Quality "
    "Research Support"
).split()
TEAMS = (
    "Audit Board Choir Design Drama Events Finance Legal Museum Press Research Sales Sports "
    "Theatre Training Youth"
).split()


def companies(count: int, rng: random.Random) -> list[str]:
    """Different names of companies."""
    stems = invent(count, rng)
    rng.shuffle(stems)
    return [f"{stem.title()} {rng.choice(_FORMS)}" for stem in stems]
