"""Completion in zsh, whose scripts lie in a folder and are loaded at the first Tab."""

from __future__ import annotations

from typer._completion_classes import ZshComplete
from typer._completion_shared import _completion_scripts

# Typer's only registers itself as it is loaded, so that the first Tab of each shell does nothing.
# And in the first line, which must not be empty, zsh looks for what it completes.
_SCRIPT = """\
#compdef %(prog_name)s

%(complete_func)s() {
  eval $(env _TYPER_COMPLETE_ARGS="${words[1,$CURRENT]}" \\
         %(autocomplete_var)s=complete_zsh %(prog_name)s)
}

if [[ "$funcstack[1]" = "_%(prog_name)s" ]]; then
  %(complete_func)s "$@"
else
  compdef %(complete_func)s %(prog_name)s
fi
"""


def teach_typer() -> None:
    """Have `--show-completion` and `--install-completion` give zsh our script."""
    _completion_scripts["zsh"] = _SCRIPT
    ZshComplete.source_template = _SCRIPT
