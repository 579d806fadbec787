"""Small environments: an encyclopedia of four pages, a shop of three products."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from bag_of_words import SIZE
from json_lines import write_lines

from planweave.learning.agents_file import AgentsCard, save
from planweave.learning.graph_states import FEATURES
from planweave.learning.ml_agent import shapes

DEEPER = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
PAGES = [
    ["Finlandia", ["Finlandia is a tone poem.", " It is by Jean Sibelius, who liked birches."]],
    ["Jean Sibelius", ["Jean Sibelius was a composer.", " He was born in Finland."]],
    ["Sweden", ["Sweden is a country.", " Birches grow there."]],
    ["Oslo", ["Oslo is a town of Norway."]],
]
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "q1",
        "question": "In which country was the composer of Finlandia born?",
        "answer": "the Republic of Finland",
        "type": "bridge",
        "split": "dev",
        "supporting_facts": [["Finlandia", 1], ["Jean Sibelius", 1]],
        "context": PAGES,
    },
    {
        "id": None,
        "question": "Is Oslo a town of Sweden?",
        "answer": "no",
        "type": "comparison",
        "split": "train",
        "supporting_facts": [["Oslo", 0]],
        "context": PAGES[2:],
    },
]
PRODUCTS: list[dict[str, Any]] = [
    {
        "asin": "B000000001",
        "name": "Warm Scarf of Merino Wool",
        "pricing": "$15.00",
        "query": "scarf",
        "category": "fashion",
        "product_category": f"Fashion {DEEPER} Women {DEEPER} Scarves",
        "full_description": "It keeps the neck warm.",
        "small_description": ["machine washable"],
        "customization_options": {
            "color": [{"value": "Red"}, {"value": "navy blue"}],
            "size": [{"value": "small"}, {"value": "large"}],
        },
    },
    {
        "asin": "B000000002",
        "name": "Scarf of Cotton",
        "pricing": "$30.00 to $35.00",
        "query": "scarf",
        "category": "fashion",
        "product_category": f"Fashion {DEEPER} Women {DEEPER} Scarves",
        "customization_options": {},
    },
    {
        "asin": "B000000003",
        "name": "Kitchen Lamp",
        "pricing": "",
        "query": "lamp",
        "category": "garden",
        "product_category": f"Home {DEEPER} Lamps",
        "small_description": ["bright"],
    },
]
GOALS: list[dict[str, Any]] = [
    {
        "asin": "B000000001",
        "instruction": "i need a warm red scarf that is machine washable",
        "instruction_attributes": ["machine washable"],
        "instruction_options": ["red"],
        "price_upper": 20.0,
    },
    {"asin": "B000000003", "instruction": "i want a kitchen lamp", "price_upper": None},
]
PATHS: list[dict[str, Any]] = [
    {
        "question": "In which country was the composer of Valse triste born?",
        "steps": [
            {"action": "Search[Valse triste]"},
            {"action": "Search[Jean Sibelius]"},
            {"action": "Finish[Finland]"},
        ],
        "success": True,
    },
    {
        "question": "Is Bergen a town of Denmark?",
        "steps": [{"action": "Search[Bergen]"}, {"action": "Finish[no]"}],
        "success": True,
    },
    {"question": "Who knows?", "steps": [{"action": "Finish[nobody]"}], "success": False},
]


def encyclopedia(folder: Path) -> Path:
    """A file of questions for the environment hotpotqa."""
    return write_lines(folder / "questions.jsonl", *QUESTIONS)


def shop(folder: Path) -> Path:
    """A folder for the environment webshop."""
    write_lines(folder / "products.jsonl", *PRODUCTS)
    write_lines(folder / "goals.jsonl", *GOALS)
    return folder


def published_shop(folder: Path, *, packed: bool = False) -> Path:
    """The shop in the three files that WebShop publishes."""
    scarf, other, lamp = PRODUCTS
    lacking = {"pricing": None, "customization_options": None, "small_description": "bright"}
    slashed = {"Size": [{"value": "Small/Tall "}], "Fit": None}
    asked = {
        "asin": "B000000001",
        "instruction": "i need a red scarf that is machine washable.",
        "attributes": ["machine washable", "wool"],
        "options": ["color: red"],
        "instruction_attributes": ["machine washable", "hand made"],
        "instruction_options": ["red"],
        "worker_id": "W",
    }
    files: dict[str, object] = {
        "items_shuffle_1000.json": [
            scarf | {"customization_options": scarf["customization_options"] | slashed},
            scarf | {"name": "Again"},
            other | {"asin": "nan"},
            lamp | lacking | {"images": ["none"]},
        ],
        "items_ins_v2_1000.json": {
            "B000000001": {"attributes": ["hand made"], "instruction": "a scarf"},
            "B000000009": {"attributes": ["lost"]},
        },
        "items_human_ins.json": {
            "B000000001": [asked, asked | {"instruction_attributes": []}],
            "B000000003": [
                asked | {"instruction_attributes": ["bright"], "instruction_options": []}
            ],
            "B000000009": [asked],
        },
    }
    for name, content in files.items():
        text = json.dumps(content, indent=1).encode()
        path = folder / (f"{name}.gz" if packed else name)
        path.write_bytes(gzip.compress(text) if packed else text)
    return folder


def solved(folder: Path) -> Path:
    """A file of paths, one of which failed."""
    return write_lines(folder / "paths.jsonl", *PATHS)


def small_agents(folder: Path) -> Path:
    """A file of agents with drawn parameters, for :class:`WordEmbeddings`."""
    random = np.random.default_rng(1)
    rl = {
        "w1": random.normal(size=(len(FEATURES), 4)).astype(np.float32),
        "b1": np.zeros(4, np.float32),
        "w2": random.normal(size=(4, 2)).astype(np.float32),
        "b2": np.array([0, 2], np.float32),
    }
    ml = {
        name: random.normal(0, 0.3, shape).astype(np.float32)
        for name, shape in shapes(SIZE, 8, 1).items()
    }
    path = folder / "agents.npz"
    save(path, rl, ml, AgentsCard(seed=1, date="2026-11-22", command="", tasks={}, rewards=[]))
    return path
