"""Play: a person, or two, at a terminal.

Whatever can be shown to them and asked of them is behind one port, `Screen`; this room knows
nothing of terminals.
"""
