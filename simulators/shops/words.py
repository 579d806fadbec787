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
_CITIES = (
    "Aarhus Bergen Bilbao Bologna Bremen Brno Cork Gdansk Ghent Graz Lille Linz Lyon Malmo Nantes "
    "Porto Riga Split Tampere Turin Utrecht Vilnius"
).split()
_LOOKS = "Black Blue Classic Compact Deluxe Grey Light Mini Oak Red Round Silver Slim White".split()
_THINGS = (
    "Bench Bottle Cabinet Chair Clock Desk Drawer Fan Heater Kettle Lamp Mirror Mug Pan Rack Shelf "
    "Sofa Stool Table Vase"
).split()
_ROOMS = (
    "Acorn Alder Amber Aspen Birch Cedar Coral Elm Fjord Garnet Hazel Iris Jade Juniper Larch "
    "Lotus Maple Olive Onyx Opal Pearl Pine Ruby Tulip Willow"
).split()
_FORMS = ("Ltd", "& Sons", "Trading", "Logistics", "Group", "Supplies", "Partners")


def people(count: int, rng: random.Random) -> list[str]:
    """Different full names."""
    every = [f"{first} {last}" for first in _FIRST for last in _LAST]
    return rng.sample(every, count)


def companies(count: int, rng: random.Random) -> list[str]:
    """Different names of companies."""
    stems = invent(count, rng)
    rng.shuffle(stems)
    return [f"{stem.title()} {rng.choice(_FORMS)}" for stem in stems]


def products(count: int, rng: random.Random) -> list[str]:
    """Different names of products."""
    every = [f"{look} {thing}" for look in _LOOKS for thing in _THINGS]
    return rng.sample(every, count)


def cities(count: int, rng: random.Random) -> list[str]:
    """Different cities."""
    return rng.sample(_CITIES, count)


def rooms(count: int, rng: random.Random) -> list[str]:
    """Different names of rooms."""
    return rng.sample(_ROOMS, count)
