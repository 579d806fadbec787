"""A method in your own program: python examples/library.py [MODEL]."""

import sys
from pathlib import Path

import planweave

for event in planweave.stream(
    "Which offer is cheapest?",
    database=str(Path(__file__).with_name("offers.sql")),
    method="planrag",
    model=sys.argv[1] if len(sys.argv) > 1 else "embedded",
):
    match event:
        case planweave.PlanEvent(steps=steps):
            print("plan:", *steps)
        case planweave.FactEvent(fact=fact):
            print(f"[{fact['number']}] {fact['query']}\n{fact['text']}")
        case planweave.AnswerEvent(result=result):
            print(result.text)
