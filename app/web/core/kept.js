// What this browser keeps for a person: theme, sound, the token of the service, tokens of seats.

const PREFIX = "kibitz.";
const MOST_SEATS = 200;
const memory = new Map();

function read(name) {
  try {
    return localStorage.getItem(PREFIX + name) ?? memory.get(name) ?? null;
  } catch {
    return memory.get(name) ?? null; // nothing is kept, but it works until the page is closed
  }
}

function write(name, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    memory.set(name, value);
  }
}

function readJson(name, otherwise) {
  try {
    return JSON.parse(read(name)) ?? otherwise;
  } catch {
    return otherwise; // somebody else wrote there
  }
}

/** "light", "dark", or null for what the system has. */
export const theme = {
  get: () => (["light", "dark"].includes(read("theme")) ? read("theme") : null),
  set(value) {
    write("theme", value);
    if (value) document.documentElement.dataset.theme = value;
    else delete document.documentElement.dataset.theme;
  },
};

/** Whether moves are heard. */
export const sound = {
  get: () => read("sound") === "on",
  set: (value) => write("sound", value ? "on" : "off"),
};

/** The token for a service that asks for one. */
export const token = {
  get: () => read("token"),
  set: (value) => write("token", value),
};

/** Tokens of human seats, which the service shows only once: `{ white: "..." }` by match. */
export const seats = {
  of: (matchId) => readJson("seats", {})[matchId] ?? {},
  add(matchId, tokens) {
    const all = readJson("seats", {});
    all[matchId] = { ...all[matchId], ...tokens };
    const ids = Object.keys(all).sort(); // by time: that is how they are made
    for (const old of ids.slice(0, Math.max(0, ids.length - MOST_SEATS))) delete all[old];
    write("seats", JSON.stringify(all));
  },
  /** Forget a token that does not open the seat. */
  forget(matchId, color) {
    const all = readJson("seats", {});
    delete all[matchId]?.[color];
    write("seats", JSON.stringify(all));
  },
};

/** What somebody last filled into a form, by its name. */
export const form = {
  get: (name) => readJson(`form.${name}`, {}),
  set: (name, values) => write(`form.${name}`, JSON.stringify(values)),
};
