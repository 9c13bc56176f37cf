"""The pipeline on the command line: `python -m orders --help`."""

from __future__ import annotations

import argparse
import json
import os
import socket

from orders.dead_letters import letters, redrive
from orders.order import Order
from orders.steps import STEPS, Step, place, prepare
from orders.worker import worker
from tailrace_client import Tailrace

BY_NAME = {step.name: step for step in STEPS}


def main() -> None:
    """Run one command against the server of `TAILRACE_URL`."""
    arguments = _arguments()
    url = os.environ.get("TAILRACE_URL", "http://127.0.0.1:8080")
    with Tailrace(url, token=os.environ.get("TAILRACE_TOKEN")) as client:
        prepare(client)
        if arguments.command == "place":
            print(place(client, Order(arguments.number, arguments.customer, arguments.item, arguments.cents)))
        elif arguments.command == "work":
            _work(client, BY_NAME[arguments.step])
        elif arguments.command == "letters":
            for fields in letters(client, BY_NAME[arguments.step]):
                print(json.dumps(fields))
        else:
            print(redrive(client, BY_NAME[arguments.step]))


def _work(client: Tailrace, step: Step) -> None:
    """Process orders until SIGTERM or SIGINT."""

    def work(order: Order) -> None:
        # A program of yours calls a bank, a warehouse or a mail server here.
        if order.customer == "nobody":
            raise RuntimeError(f"{step.name} refuses order {order.number}")
        print(f"{step.name}: order {order.number}, {order.item} for {order.customer}", flush=True)

    consumer, handle = worker(client, step, f"{socket.gethostname()}-{os.getpid()}", work)
    consumer.stop_on_signals()
    consumer.run(handle)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="orders", description=main.__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    placing = commands.add_parser("place", help="place an order")
    placing.add_argument("number")
    placing.add_argument("customer")
    placing.add_argument("item")
    placing.add_argument("cents", type=int)
    for name, text in (
        ("work", "process the orders of a step until Ctrl-C"),
        ("letters", "list the dead letters of a step"),
        ("redrive", "send the dead letters of a step back"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("step", choices=BY_NAME)
    return parser.parse_args()


if __name__ == "__main__":
    main()
