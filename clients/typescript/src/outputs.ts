/**
 * What tools gave since the agent's last response: it goes along with the next one.
 *
 * A figure that stands there has its source there, and is not taken for invented. metacog reads 65,536 characters of it:
 * of more, what is short stays whole, what is long is cut to the same length, and what is left out is named.
 */
const MOST = 65_536; // characters of `command_output` that metacog reads
const MOST_OUTPUTS = 128; // of one session; of older ones their number is told
const MOST_SESSIONS = 256; // those that were added to last
const MOST_ASKED = 512; // questions that are the same to the byte when they are asked again
const MOST_KEPT = 2_097_152; // characters that go along with them
const EARLIER = 64; // characters for the line about earlier outputs
const MAX_NAME = 50; // of a tool, in these lines
const DATA = /[A-Za-z0-9+/=_-]{1000,}/g; // an image, say, in which nobody finds a figure

interface Output {
  readonly tool: string;
  text: string;
  isCut: boolean;
}

/** The outputs of one session that no response has had yet; `first` counts those before them. */
interface Session {
  outputs: Output[];
  first: number;
  forgotten: number; // of those that no response has had
}

/** What goes along with one response. `sent` says that metacog has it, so that no other response needs it. */
export interface Given {
  readonly text: string;
  sent(): void;
}

/** Collects, by session. It is kept in memory alone. */
export class Outputs {
  readonly #sessions = new Map<string, Session>();
  readonly #asked = new Map<string, Given>();

  /** Keep what a tool gave for the session's next response. Never throws, whatever it is. */
  add(session: string, output: unknown, tool = ""): void {
    const { text, isCut } = asText(output);
    if (!text.trim()) return;
    const found = this.#sessions.get(session) ?? { outputs: [], first: 0, forgotten: 0 };
    this.#sessions.delete(session); // it is the last one now
    this.#sessions.set(session, found);
    shorten(this.#sessions, MOST_SESSIONS);
    found.outputs.push({ tool: cut(tool, MAX_NAME), text, isCut });
    if (found.outputs.length > MOST_OUTPUTS) {
      drop(found, found.first + 1);
      found.forgotten++;
    }
    let left = MOST - EARLIER;
    for (const { tool } of found.outputs) left -= linesOf({ tool, text: "", isCut: true }).join("\n").length + 1;
    const byLength = [...found.outputs].sort((one, two) => one.text.length - two.text.length);
    for (const [number, each] of byLength.entries()) {
      const share = Math.floor(left / (byLength.length - number));
      if (each.text.length > share) [each.text, each.isCut] = [cut(each.text, share), true];
      left -= each.text.length;
    }
  }

  /** Give what goes along with the response of this key: the same however often it is asked for. */
  given(session: string, key: string): Given {
    const known = this.#asked.get(key);
    if (known) return known;
    const found = this.#sessions.get(session) ?? { outputs: [], first: 0, forgotten: 0 };
    const until = found.first + found.outputs.length;
    const given = { text: textOf(found), sent: () => this.#forget(session, until) };
    this.#asked.set(key, given);
    shorten(this.#asked, MOST_ASKED);
    let kept = 0;
    for (const each of this.#asked.values()) kept += each.text.length;
    for (const [oldest, { text }] of this.#asked) {
      if (kept <= MOST_KEPT) break;
      this.#asked.delete(oldest);
      kept -= text.length;
    }
    return given;
  }

  #forget(session: string, until: number): void {
    const found = this.#sessions.get(session);
    if (!found) return;
    drop(found, until);
    found.forgotten = 0;
  }
}

/** Cut a text, not between the halves of a character: metacog takes no half. */
function cut(text: string, most: number): string {
  return text.slice(0, most).replace(/\p{Surrogate}$/u, "");
}

function drop(session: Session, until: number): void {
  session.outputs.splice(0, Math.max(0, until - session.first));
  session.first = Math.max(session.first, until);
}

function textOf({ outputs, forgotten }: Session): string {
  const earlier = forgotten ? [`[${forgotten.toLocaleString("en")} earlier outputs are left out]`] : [];
  return [...earlier, ...outputs.flatMap(linesOf)].join("\n");
}

function linesOf({ tool, text, isCut }: Output): string[] {
  return [
    ...(tool ? [`[${tool}]`] : []),
    text,
    ...(isCut ? [`[… the rest of what ${tool || "it"} gave is left out]`] : []),
  ];
}

/** Write what a tool gave, of what has parts each on a line after its name; say whether it is cut. */
function asText(output: unknown): { text: string; isCut: boolean } {
  const found: string[] = [];
  let left = MOST;
  try {
    for (const line of lines(output, "")) {
      found.push(line.slice(0, Math.max(0, left)));
      left -= line.length + 1;
      if (left < 0) break;
    }
  } catch {
    found.push(typeof output); // whatever a result does when it is looked at
  }
  const text = found.join("\n").replace(DATA, "[data that is no text is left out]");
  return { text: text.replace(/\0/g, "").replace(/\p{Surrogate}/gu, "\ufffd"), isCut: left < -1 };
}

function* lines(value: unknown, name: string): Generator<string> {
  if (value === null || value === undefined || typeof value === "function") return;
  if (Array.isArray(value)) {
    for (const each of value) yield* lines(each, name);
  } else if (typeof value === "object" && !(value instanceof Date)) {
    for (const [key, each] of Object.entries(value)) yield* lines(each, key);
  } else {
    const text = value instanceof Date ? value.toISOString() : String(value);
    yield name ? `${name}: ${text}` : text;
  }
}

function shorten(map: Map<string, unknown>, most: number): void {
  if (map.size > most) map.delete(map.keys().next().value!);
}
