"""Examples of what `kibitz eval` can be told to do."""

from __future__ import annotations

ALL = (
    "Examples: [bold]kibitz eval run plans/ladder.toml --dry-run[/bold] | "
    "[bold]kibitz eval run plans/duel.toml --output duel[/bold] | "
    "[bold]kibitz eval ladder classical --margin 150[/bold] | "
    "[bold]kibitz eval duel classical@nodes=4000 classical@nodes=1000 --sprt 0,100[/bold] | "
    "[bold]kibitz eval resume ID[/bold] | "
    "[bold]kibitz eval report ID --format html --output report.html[/bold]"
)
RUN = (
    "Examples: [bold]kibitz eval run plans/ladder.toml --dry-run[/bold] | "
    "[bold]kibitz eval run plans/duel.toml --output duel[/bold] | "
    "[bold]kibitz eval run plans/duel.toml --resume --json[/bold] | "
    "[bold]kibitz eval run - < plan.json[/bold]"
)
LADDER = (
    "Examples: [bold]kibitz eval ladder classical --margin 150[/bold] | "
    "[bold]kibitz eval ladder classical@nodes=2000 stockfish:3 --games 100[/bold] | "
    "[bold]kibitz eval ladder team:default --control --usd 5 --dry-run[/bold]"
)
DUEL = (
    "Examples: [bold]kibitz eval duel classical stockfish:5 --games 20[/bold] | "
    "[bold]kibitz eval duel classical@nodes=4000 classical@nodes=1000 --sprt 0,100[/bold]"
)
RESUME = (
    "Examples: [bold]kibitz eval resume ID[/bold] | [bold]kibitz eval resume ID --usd 10[/bold]"
)
CANCEL = "Examples: [bold]kibitz eval cancel ID[/bold]"
LIST = (
    "Examples: [bold]kibitz eval list[/bold] | "
    "[bold]kibitz eval list --status finished --limit 100 --json[/bold]"
)
SHOW = "Examples: [bold]kibitz eval show ID[/bold] | [bold]kibitz eval show ID --json[/bold]"
REPORT = (
    "Examples: [bold]kibitz eval report ID[/bold] | "
    "[bold]kibitz eval report ID --format html --output report.html[/bold] | "
    "[bold]kibitz eval report ID --format csv > games.csv[/bold]"
)
RATINGS = "Examples: [bold]kibitz eval ratings[/bold] | [bold]kibitz eval ratings --json[/bold]"
