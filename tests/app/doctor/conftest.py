"""What the checks of the doctor look at, in all states."""

from tests.support.databases import (  # noqa: F401
    postgres,
    postgres_url,
    sqlite_template,
)
