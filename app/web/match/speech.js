// Moves in words, for those who hear the page; and as a sound, for those who want one.

import { sound } from "../core/kept.js";
import { capital } from "../core/wording.js";

const KINDS = { K: "king", Q: "queen", R: "rook", B: "bishop", N: "knight" };

/** Return a move in short notation as one says it: "knight takes f3, check". */
export function spoken(san) {
  const end = san.endsWith("#") ? ", checkmate" : san.endsWith("+") ? ", check" : "";
  const bare = san.replace(/[+#]$/, "");
  if (bare === "O-O") return `castles short${end}`;
  if (bare === "O-O-O") return `castles long${end}`;
  if (bare.endsWith("off")) return `${kind(bare)} ${bare.slice(1, -3)} leaves the board`.replace("  ", " ");
  const [, piece, from, takes, target, , promotion] = /^([KQRBN]?)([a-h]?[1-8]?)(x?)([a-h][1-8])(=?([QRBN]))?$/.exec(bare) ?? [];
  if (!target) return bare;
  const who = piece ? `${KINDS[piece]}${from ? ` ${from}` : ""}` : takes ? `${from} pawn` : "";
  const becomes = promotion ? `, becomes a ${KINDS[promotion]}` : "";
  return `${[who, takes && "takes", target].filter(Boolean).join(" ")}${becomes}${end}`;
}

function kind(san) {
  return KINDS[san[0]] ?? "piece";
}

/** Return what to say of a ply. */
export function announcement(ply) {
  return `${capital(ply.color)}: ${spoken(ply.san)}.`;
}

let audio = null;

/** Let a ply be heard, if sound is on: a short knock, lower for a capture. */
export function knock(san) {
  if (!sound.get()) return;
  audio ??= new AudioContext();
  audio.resume(); // it may have been made before anybody touched the page
  const at = audio.currentTime;
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  tone.type = "triangle";
  tone.frequency.setValueAtTime(san.includes("x") ? 180 : 260, at);
  tone.frequency.exponentialRampToValueAtTime(70, at + 0.09);
  volume.gain.setValueAtTime(0.25, at);
  volume.gain.exponentialRampToValueAtTime(0.001, at + 0.12);
  tone.connect(volume).connect(audio.destination);
  tone.start(at);
  tone.stop(at + 0.13);
}
