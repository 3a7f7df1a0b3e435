import { Refused, Unreachable } from "./errors.js";
import type { ProblemDocument } from "./types.js";

const ANSWER_SECONDS = 10; // for one answer; what waits for a decision adds how long it asked to wait
const LOOK_SECONDS = 5; // for the answer of one look, where nothing is waited for
const FIRST_PAUSE_SECONDS = 0.25;
const LONGEST_PAUSE_SECONDS = 5;
// Asked again later, each of these may be answered otherwise. A 500 too: every write here has an id or is the same twice.
const TRY_AGAIN = new Set([408, 425, 429, 500, 502, 503, 504]);

export const NOT_METACOG = "what answers at this address is not metacog's API";

export interface Request {
  readonly method: "GET" | "POST";
  /** Below /api/v1, with its query unless it `waits`. */
  readonly path: string;
  /** Sent as it is with each attempt: the same bytes are the same post. */
  readonly body?: string | undefined;
  readonly accept?: string | undefined;
  /** Asks metacog to answer a little later with something better: within so many seconds, and what is left. */
  readonly waits?: number | undefined;
  /** When to give up. */
  readonly until: Until;
  /** False: one attempt. */
  readonly again?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A time to give up at, on a clock that is never set back. */
export class Until {
  readonly #at: number;

  constructor(at: number) {
    this.#at = at;
  }

  static after(seconds: number): Until {
    return new Until(performance.now() / 1000 + seconds);
  }

  get left(): number {
    return Math.max(0, this.#at - performance.now() / 1000);
  }

  sooner(seconds: number): Until {
    return new Until(Math.min(this.#at, performance.now() / 1000 + seconds));
  }
}

/** Wait, unless the signal ends it: then throw its reason. */
export function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Read a `Retry-After`, seconds or a date, as seconds from now; 0 where it is neither or over. */
export function retryAfter(header: string | null, at: number = Date.now()): number {
  const value = (header ?? "").trim();
  if (/^\d+$/.test(value)) return Number(value);
  return Math.max(0, (Date.parse(value) - at) / 1000) || 0;
}

/** How long to wait: twice as long each time, by chance down to half of it, and never less than asked for. */
export function pauseAfter(asked: number, attempt: number): number {
  const longest = Math.min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** Math.min(attempt, 16));
  // Spread out beyond what was asked for, too: all who were told the same second would come back in it.
  return asked + longest * (0.5 + Math.random() / 2);
}

export class Transport {
  readonly #base: string;
  readonly #apiKey: string;
  readonly #fetch: typeof fetch;

  constructor(url: string, apiKey: string, fetcher?: typeof fetch) {
    this.#base = `${url}/api/v1`;
    this.#apiKey = apiKey;
    // Browsers refuse a `fetch` that is called as a method of another object.
    this.#fetch = fetcher ?? ((input, init) => fetch(input, init));
  }

  async json<Answer>(request: Request): Promise<Answer> {
    try {
      return JSON.parse(await this.text(request)) as Answer;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new Unreachable("What answered is not metacog: its answer is no JSON.");
    }
  }

  /**
   * Ask until there is an answer that stands, and return its body. Throw `Unreachable` when the time is over, `Refused`
   * when it is a no, and the signal's reason when it is aborted. Asked at all even where no time is left: a deadline of
   * 0 means one look.
   */
  async text(request: Request): Promise<string> {
    const { until, signal, again = true } = request;
    let why = "there was no time";
    for (let attempt = 0; attempt === 0 || until.left > 0; attempt++) {
      signal?.throwIfAborted();
      let asked = 0;
      try {
        const answer = await this.#attempt(request);
        if (answer.status < 400) return answer.body;
        const problem = read(answer.body);
        if (!TRY_AGAIN.has(answer.status)) throw new Refused(answer.status, problem.detail || NOT_METACOG, problem.errors, problem.whole);
        why = `${problem.detail || `HTTP status ${answer.status}`} (${answer.status})`;
        asked = retryAfter(answer.retryAfter);
      } catch (error) {
        if (error instanceof Refused) throw error;
        signal?.throwIfAborted();
        why = said(error);
      }
      const seconds = pauseAfter(asked, attempt);
      if (!again || seconds >= until.left) break;
      await pause(seconds, signal);
    }
    throw new Unreachable(`metacog gave no answer: ${why}`);
  }

  async #attempt(request: Request): Promise<{ status: number; body: string; retryAfter: string | null }> {
    const { signal, body } = request;
    const { left } = request.until;
    const wait = Math.round(Math.min(request.waits ?? 0, left) * 1000) / 1000;
    const seconds = left > 0 ? Math.min(ANSWER_SECONDS, Math.max(left, 1)) + wait : LOOK_SECONDS;
    const control = new AbortController();
    const timer = setTimeout(() => control.abort(new Error(`nothing within ${seconds.toFixed(0)} s`)), seconds * 1000);
    const stop = (): void => control.abort(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    const headers: Record<string, string> = {
      Authorization: `Bearer ${this.#apiKey}`,
      Accept: request.accept ?? "application/json",
    };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    try {
      const answer = await this.#fetch(this.#base + request.path + (wait ? `?wait=${wait}` : ""), {
        method: request.method,
        headers,
        body: body ?? null,
        redirect: "error", // the key goes to the address that was given, and nowhere else
        signal: control.signal,
      });
      // The time limit counts for the body as well.
      return { status: answer.status, body: await answer.text(), retryAfter: answer.headers.get("Retry-After") };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    }
  }
}

function read(body: string): { detail: string; errors: ProblemDocument["errors"]; whole: Partial<ProblemDocument> } {
  let found: unknown = null;
  try {
    found = JSON.parse(body);
  } catch {
    // a proxy's page
  }
  const whole = (typeof found === "object" && found !== null ? found : {}) as Partial<ProblemDocument>;
  const { detail, errors } = whole;
  return { detail: typeof detail === "string" ? detail : "", errors: Array.isArray(errors) ? errors : [], whole };
}

function said(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node's "fetch failed" says nothing; its cause does.
  const cause = error.cause as { message?: string; code?: string } | undefined;
  const more = cause?.message || cause?.code;
  return more ? `${error.message}: ${more}` : error.message;
}
