"""Wall time of `areopage --help` and `areopage bench run --help`: median of 15 after 2 warm-ups. One JSON line."""

import json
import statistics
import subprocess
import sys
import time

RUNS, WARM_UPS = 15, 2


def seconds(arguments: list[str]) -> list[float]:
    command = [sys.executable, "-m", "areopage", *arguments]
    taken: list[float] = []
    for number in range(RUNS + WARM_UPS):
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if number >= WARM_UPS:
            taken.append(time.perf_counter() - began)
    return taken


def main() -> None:
    line: dict[str, object] = {"benchmark": "cli_help"}
    for name, arguments in (("help", ["--help"]), ("bench_run_help", ["bench", "run", "--help"])):
        taken = seconds(arguments)
        line[f"{name}_s"] = round(statistics.median(taken), 3)
        line[f"{name}_spread_s"] = [round(min(taken), 3), round(max(taken), 3)]
    print(json.dumps(line))


if __name__ == "__main__":
    main()
