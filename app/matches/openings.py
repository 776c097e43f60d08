"""Openings from which matches start, so that the same two players do not repeat one game.

Well-known lines of four to ten plies after which White is to move and neither side stands much
better, spread over all volumes of the Encyclopaedia of Chess Openings (ECO). Matches are stored
with these names, so a line that is here stays as it is.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from engine import Position


@dataclass(frozen=True)
class Opening:
    """A named line from the starting position: its ECO code, and its moves in short notation."""

    name: str
    eco: str
    moves: tuple[str, ...]

    @property
    def position(self) -> Position:
        """The position after the moves."""
        position = Position.start()
        for move in self.moves:
            position = position.play(move)
        return position


def shuffled(seed: int) -> list[Opening]:
    """Return all openings in an order that depends on the seed alone.

    Each opening draws its own lot, so the others keep their order when one is added or removed.
    """
    return sorted(OPENINGS, key=lambda opening: _lot(seed, opening.name))


def find_opening(name: str) -> Opening | None:
    """Return an opening by its name, or the first of an ECO code, in any case, or None."""
    wanted = name.strip().casefold()
    by_name = (each for each in OPENINGS if each.name.casefold() == wanted)
    by_code = (each for each in OPENINGS if each.eco.casefold() == wanted)
    return next(by_name, None) or next(by_code, None)


def _lot(seed: int, name: str) -> bytes:
    # a digest, since the order that `random` gives to a seed may change with Python's version
    return hashlib.sha256(f"{seed} {name}".encode()).digest()


_LINES = (
    # A: flank openings, Benoni, Dutch
    ("Nimzo-Larsen Attack", "A01", "b3 e5 Bb2 Nc6 e3 Nf6"),
    ("Bird Opening", "A03", "f4 d5 Nf3 Nf6 e3 g6"),
    ("King's Indian Attack", "A07", "Nf3 d5 g3 Nf6 Bg2 e6 O-O Be7"),
    ("Réti Opening: Advance", "A09", "Nf3 d5 c4 d4 g3 Nc6"),
    ("English Opening: Neo-Catalan", "A14", "c4 e6 Nf3 d5 g3 Nf6 Bg2 Be7 O-O O-O"),
    ("English Opening: Smyslov", "A22", "c4 e5 Nc3 Nf6 g3 Bb4"),
    ("English Opening: Closed", "A25", "c4 e5 Nc3 Nc6 g3 g6 Bg2 Bg7"),
    ("English Opening: Four Knights, Quiet", "A28", "c4 e5 Nc3 Nc6 Nf3 Nf6 e3 Bb4"),
    ("English Opening: Four Knights, Fianchetto", "A29", "c4 e5 Nc3 Nc6 Nf3 Nf6 g3 d5 cxd5 Nxd5"),
    ("English Opening: Hedgehog", "A30", "c4 c5 Nf3 Nf6 g3 b6 Bg2 Bb7 O-O e6"),
    ("English Opening: Symmetrical", "A36", "c4 c5 Nc3 Nc6 g3 g6 Bg2 Bg7"),
    ("Trompowsky Attack", "A45", "d4 Nf6 Bg5 e6 e4 h6 Bxf6 Qxf6"),
    ("Torre Attack", "A46", "d4 Nf6 Nf3 e6 Bg5 c5"),
    ("London System against the King's Indian", "A48", "d4 Nf6 Nf3 g6 Bf4 Bg7 e3 O-O"),
    ("Budapest Gambit: Rubinstein", "A52", "d4 Nf6 c4 e5 dxe5 Ng4 Bf4 Nc6"),
    ("Benko Gambit", "A57", "d4 Nf6 c4 c5 d5 b5"),
    ("Modern Benoni", "A60", "d4 Nf6 c4 c5 d5 e6 Nc3 exd5 cxd5 d6"),
    ("Dutch Defence: Leningrad", "A87", "d4 f5 c4 Nf6 g3 g6 Bg2 Bg7 Nf3 O-O"),
    ("Dutch Defence: Classical", "A91", "d4 f5 c4 Nf6 g3 e6 Bg2 Be7"),
    # B: half-open games other than the French
    ("Scandinavian Defence: Main Line", "B01", "e4 d5 exd5 Qxd5 Nc3 Qa5 d4 Nf6"),
    ("Scandinavian Defence: Modern", "B01", "e4 d5 exd5 Nf6 d4 Nxd5"),
    ("Alekhine Defence: Modern", "B05", "e4 Nf6 e5 Nd5 d4 d6 Nf3 Bg4"),
    ("Modern Defence", "B06", "e4 g6 d4 Bg7 Nc3 d6"),
    ("Pirc Defence: Classical", "B08", "e4 d6 d4 Nf6 Nc3 g6 Nf3 Bg7"),
    ("Caro-Kann Defence: Two Knights", "B11", "e4 c6 Nc3 d5 Nf3 Bg4"),
    ("Caro-Kann Defence: Advance", "B12", "e4 c6 d4 d5 e5 Bf5 Nf3 e6"),
    ("Caro-Kann Defence: Exchange", "B13", "e4 c6 d4 d5 exd5 cxd5 Bd3 Nc6"),
    ("Caro-Kann Defence: Panov Attack", "B14", "e4 c6 d4 d5 exd5 cxd5 c4 Nf6 Nc3 e6"),
    ("Caro-Kann Defence: Karpov", "B17", "e4 c6 d4 d5 Nc3 dxe4 Nxe4 Nd7"),
    ("Caro-Kann Defence: Classical", "B18", "e4 c6 d4 d5 Nc3 dxe4 Nxe4 Bf5 Ng3 Bg6"),
    ("Sicilian Defence: Alapin", "B22", "e4 c5 c3 Nf6 e5 Nd5 d4 cxd4"),
    ("Sicilian Defence: Closed", "B25", "e4 c5 Nc3 Nc6 g3 g6 Bg2 Bg7 d3 d6"),
    ("Sicilian Defence: Rossolimo", "B31", "e4 c5 Nf3 Nc6 Bb5 g6"),
    ("Sicilian Defence: Sveshnikov", "B33", "e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 Nf6 Nc3 e5"),
    ("Sicilian Defence: Accelerated Dragon", "B34", "e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 g6 Nc3 Bg7"),
    ("Sicilian Defence: Maróczy Bind", "B36", "e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 g6 c4 Nf6"),
    ("Sicilian Defence: Kan", "B41", "e4 c5 Nf3 e6 d4 cxd4 Nxd4 a6"),
    ("Sicilian Defence: Taimanov", "B47", "e4 c5 Nf3 e6 d4 cxd4 Nxd4 Nc6 Nc3 Qc7"),
    ("Sicilian Defence: Moscow", "B52", "e4 c5 Nf3 d6 Bb5+ Bd7 Bxd7+ Qxd7"),
    ("Sicilian Defence: Classical", "B56", "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 Nc6"),
    ("Sicilian Defence: Dragon", "B70", "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 g6"),
    ("Sicilian Defence: Scheveningen", "B80", "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 e6"),
    ("Sicilian Defence: Najdorf", "B90", "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6"),
    # C: the French, and open games
    ("French Defence: Exchange", "C01", "e4 e6 d4 d5 exd5 exd5 Nf3 Nf6"),
    ("French Defence: Advance", "C02", "e4 e6 d4 d5 e5 c5 c3 Nc6 Nf3 Qb6"),
    ("French Defence: Tarrasch, Closed", "C05", "e4 e6 d4 d5 Nd2 Nf6 e5 Nfd7"),
    ("French Defence: Tarrasch, Open", "C08", "e4 e6 d4 d5 Nd2 c5 exd5 exd5"),
    ("French Defence: Rubinstein", "C10", "e4 e6 d4 d5 Nc3 dxe4 Nxe4 Nd7"),
    ("French Defence: Steinitz", "C11", "e4 e6 d4 d5 Nc3 Nf6 e5 Nfd7 f4 c5"),
    ("French Defence: Winawer, Advance", "C17", "e4 e6 d4 d5 Nc3 Bb4 e5 c5"),
    ("Bishop's Opening: Berlin", "C24", "e4 e5 Bc4 Nf6 d3 c6"),
    ("Vienna Game: Mieses", "C26", "e4 e5 Nc3 Nf6 g3 d5 exd5 Nxd5"),
    ("Philidor Defence: Exchange", "C41", "e4 e5 Nf3 d6 d4 exd4 Nxd4 Nf6"),
    ("Petrov Defence: Classical", "C42", "e4 e5 Nf3 Nf6 Nxe5 d6 Nf3 Nxe4 d4 d5"),
    ("Petrov Defence: Steinitz", "C43", "e4 e5 Nf3 Nf6 d4 Nxe4 Bd3 d5"),
    ("Scotch Game: Classical", "C45", "e4 e5 Nf3 Nc6 d4 exd4 Nxd4 Bc5"),
    ("Scotch Game: Mieses", "C45", "e4 e5 Nf3 Nc6 d4 exd4 Nxd4 Nf6 Nxc6 bxc6"),
    ("Four Knights Game: Scotch", "C47", "e4 e5 Nf3 Nc6 Nc3 Nf6 d4 exd4 Nxd4 Bb4"),
    ("Four Knights Game: Double Spanish", "C49", "e4 e5 Nf3 Nc6 Nc3 Nf6 Bb5 Bb4 O-O O-O"),
    ("Italian Game: Giuoco Pianissimo", "C50", "e4 e5 Nf3 Nc6 Bc4 Bc5 d3 Nf6"),
    ("Italian Game: Classical", "C54", "e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d3 d6"),
    ("Italian Game: Two Knights, Modern", "C55", "e4 e5 Nf3 Nc6 Bc4 Nf6 d3 Be7"),
    ("Italian Game: Two Knights, Polerio", "C58", "e4 e5 Nf3 Nc6 Bc4 Nf6 Ng5 d5 exd5 Na5"),
    ("Ruy Lopez: Anti-Berlin", "C65", "e4 e5 Nf3 Nc6 Bb5 Nf6 d3 Bc5"),
    ("Ruy Lopez: Berlin, Open", "C67", "e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Nxe4 d4 Nd6"),
    ("Ruy Lopez: Exchange", "C68", "e4 e5 Nf3 Nc6 Bb5 a6 Bxc6 dxc6"),
    ("Ruy Lopez: Modern Steinitz", "C71", "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 d6"),
    ("Ruy Lopez: Møller", "C78", "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Bc5"),
    ("Ruy Lopez: Open", "C80", "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Nxe4"),
    ("Ruy Lopez: Closed", "C84", "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7"),
    # D: closed games, and the Grünfeld
    ("Richter-Veresov Attack", "D01", "d4 d5 Nc3 Nf6 Bg5 Nbd7"),
    ("London System", "D02", "d4 d5 Nf3 Nf6 Bf4 c5 e3 Nc6"),
    ("Colle System", "D05", "d4 d5 Nf3 Nf6 e3 e6 Bd3 c5"),
    ("Chigorin Defence", "D07", "d4 d5 c4 Nc6 Nf3 Bg4"),
    ("Slav Defence: Quiet", "D12", "d4 d5 c4 c6 Nf3 Nf6 e3 Bf5"),
    ("Slav Defence: Exchange", "D13", "d4 d5 c4 c6 Nf3 Nf6 cxd5 cxd5"),
    ("Slav Defence: Chebanenko", "D15", "d4 d5 c4 c6 Nf3 Nf6 Nc3 a6"),
    ("Slav Defence: Czech", "D17", "d4 d5 c4 c6 Nf3 Nf6 Nc3 dxc4 a4 Bf5"),
    ("Queen's Gambit Accepted: Classical", "D26", "d4 d5 c4 dxc4 Nf3 Nf6 e3 e6 Bxc4 c5"),
    ("Tarrasch Defence", "D32", "d4 d5 c4 e6 Nc3 c5 cxd5 exd5 Nf3 Nc6"),
    ("Queen's Gambit Declined: Exchange", "D35", "d4 d5 c4 e6 Nc3 Nf6 cxd5 exd5 Bg5 c6"),
    ("Queen's Gambit Declined: Harrwitz", "D37", "d4 d5 c4 e6 Nc3 Nf6 Nf3 Be7 Bf4 O-O"),
    ("Queen's Gambit Declined: Ragozin", "D38", "d4 d5 c4 e6 Nc3 Nf6 Nf3 Bb4"),
    ("Semi-Tarrasch Defence", "D41", "d4 d5 c4 e6 Nc3 Nf6 Nf3 c5 cxd5 Nxd5"),
    ("Semi-Slav Defence", "D45", "d4 d5 c4 c6 Nf3 Nf6 Nc3 e6 e3 Nbd7"),
    ("Queen's Gambit Declined: Modern", "D53", "d4 d5 c4 e6 Nc3 Nf6 Bg5 Be7 e3 O-O"),
    ("Grünfeld Defence: Brinckmann Attack", "D82", "d4 Nf6 c4 g6 Nc3 d5 Bf4 Bg7"),
    ("Grünfeld Defence: Exchange", "D85", "d4 Nf6 c4 g6 Nc3 d5 cxd5 Nxd5"),
    ("Grünfeld Defence: Three Knights", "D90", "d4 Nf6 c4 g6 Nc3 d5 Nf3 Bg7"),
    # E: Indian games
    ("Catalan Opening: Open", "E04", "d4 Nf6 c4 e6 g3 d5 Bg2 dxc4 Nf3 a6"),
    ("Catalan Opening: Closed", "E06", "d4 Nf6 c4 e6 g3 d5 Bg2 Be7 Nf3 O-O"),
    ("Bogo-Indian Defence: Nimzowitsch", "E11", "d4 Nf6 c4 e6 Nf3 Bb4+ Bd2 Qe7"),
    ("Queen's Indian Defence: Petrosian", "E12", "d4 Nf6 c4 e6 Nf3 b6 a3 Bb7"),
    ("Queen's Indian Defence: Nimzowitsch", "E15", "d4 Nf6 c4 e6 Nf3 b6 g3 Ba6"),
    ("Queen's Indian Defence: Fianchetto", "E17", "d4 Nf6 c4 e6 Nf3 b6 g3 Bb7 Bg2 Be7"),
    ("Nimzo-Indian Defence: Three Knights", "E21", "d4 Nf6 c4 e6 Nc3 Bb4 Nf3 c5"),
    ("Nimzo-Indian Defence: Leningrad", "E30", "d4 Nf6 c4 e6 Nc3 Bb4 Bg5 h6 Bh4 c5"),
    ("Nimzo-Indian Defence: Classical", "E32", "d4 Nf6 c4 e6 Nc3 Bb4 Qc2 O-O"),
    ("Nimzo-Indian Defence: Noa", "E34", "d4 Nf6 c4 e6 Nc3 Bb4 Qc2 d5"),
    ("Nimzo-Indian Defence: Hübner", "E41", "d4 Nf6 c4 e6 Nc3 Bb4 e3 c5"),
    ("Nimzo-Indian Defence: Rubinstein", "E46", "d4 Nf6 c4 e6 Nc3 Bb4 e3 O-O"),
    ("King's Indian Defence: Fianchetto", "E62", "d4 Nf6 c4 g6 Nc3 Bg7 Nf3 d6 g3 O-O"),
    ("King's Indian Defence: Four Pawns", "E76", "d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 f4 O-O"),
    ("King's Indian Defence: Sämisch", "E81", "d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 f3 O-O"),
    ("King's Indian Defence: Normal", "E90", "d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 Nf3 O-O"),
)

#: All openings, by ECO code.
OPENINGS = tuple(Opening(name, eco, tuple(moves.split())) for name, eco, moves in _LINES)
