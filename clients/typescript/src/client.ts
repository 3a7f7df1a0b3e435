import { NotAnswered, NotConfigured, Refused, Unreachable } from "./errors.js";
import { derived, ended, isToolCall, keyOf, outcome, type Asked, type Outcome, type OutcomeVerdict } from "./gating.js";
import { asJson, isNoJson } from "./json.js";
import { Outputs, type Given } from "./outputs.js";
import { isReported, MOST_REPORTS, REPORT_SECONDS, reportOf, wordsOf, type Report } from "./reporting.js";
import { Spool, type SpoolStore } from "./spool.js";
import { NOT_METACOG, pause, Transport, Until, type Request } from "./transport.js";
import type { Assessment, CallOutcome, Context, Decision, DecisionPage, Held, HeldPage, Json, Memory, MemoryPage, ResponseBody } from "./types.js";

const DEADLINE_SECONDS = 600;
const RETRY_SECONDS = 30;
const WAIT_SECONDS = 25; // of one long poll: below what proxies allow, usually 30 or 60
const AGAIN_SECONDS = 0.5; // between two polls, where a proxy answered sooner
const CLOSED = ["approved", "edited", "rejected", "expired", "withdrawn"]; // what permits comes first
const MAX_CALL_ID = 255;
const MAX_BODY = 1_048_576; // bytes of a response
const MAX_SCHEMA = 65_536; // of a schema's JSON, in bytes: of a larger one metacog is told that it was left out
const NOT_YOURS = "Not done: this approval is used up, or several calls wait for it. Ask about the call again.";

const DECIDED: Readonly<Partial<Record<Decision["verdict"], OutcomeVerdict>>> = {
  approve: "approve",
  edit: "edit",
  reject: "reject",
  withdraw: "withdrawn",
  expire: "expired",
};

export interface ClientOptions {
  /** metacog's address; `METACOG_URL` of the environment unless given. */
  readonly url?: string | undefined;
  /** The agent's; `METACOG_API_KEY` of the environment unless given. */
  readonly apiKey?: string | undefined;
  /** Names this run of the agent: the same run and call id, from whatever process, is the same question. A new UUID unless given. */
  readonly run?: string | undefined;
  /** For how many seconds a decision is waited for unless a call says otherwise: 600, or `Infinity`. */
  readonly deadline?: number | undefined;
  /** For how many seconds an answer is tried for at all: 30. */
  readonly retrySeconds?: number | undefined;
  /** In place of the global `fetch`: for a proxy, or a test. */
  readonly fetch?: typeof fetch | undefined;
  /** Keeps what `record` is given until metacog has it: a `FileStore` of `@metacog/client/file-store`, or your own. */
  readonly spool?: SpoolStore | undefined;
  /** False: what tools gave since the last response does not go along with the next one. */
  readonly outputs?: boolean | undefined;
}

export interface Cancellable {
  /** Aborted, the call rejects with the signal's reason. What is held stays held. */
  readonly signal?: AbortSignal | undefined;
}

export interface AskOptions extends Cancellable {
  /** The conversation it belongs to; the run unless given. */
  readonly session?: string | undefined;
  /** What the agent answers to. */
  readonly userMessage?: string | undefined;
  /** At most 4 KiB of JSON that comes back with the item everywhere. */
  readonly metadata?: Readonly<Record<string, Json>> | undefined;
  /** True: a person decides in any case. */
  readonly requireReview?: boolean | undefined;
  /** Seconds until it expires undecided, at most the policy's. */
  readonly expiresIn?: number | undefined;
  /** Seconds to wait for a decision; 0 looks once. */
  readonly deadline?: number | undefined;
  /**
   * `deny` unless given. `allow` lets through what metacog did not answer about, never what it holds or refuses.
   */
  readonly unreachable?: "deny" | "allow" | undefined;
}

export interface GateOptions extends AskOptions {
  /** Called before the wait with the outcome that is `pending`: its `reviewUrl` is where to decide. */
  readonly onHeld?: ((told: Outcome) => void) | undefined;
}

export interface QuestionOptions extends Pick<AskOptions, "session" | "userMessage" | "metadata" | "expiresIn" | "deadline" | "signal"> {
  /** The answers to choose from. */
  readonly choices?: readonly string[] | undefined;
  /** The JSON Schema that the answer must meet. Without it and `choices` the answer is any text. */
  readonly schema?: Readonly<Record<string, Json>> | undefined;
  /** Asked again under it, in this run, it is the same question, answered or not. */
  readonly callId?: string | undefined;
  /** Called before the wait with the question's id, and where a person answers it. */
  readonly onAsked?: ((held: string, reviewUrl: string | null) => void) | undefined;
}

/** A question with all that goes into its bytes: asked again, these are the same. */
interface Question {
  readonly asked: Asked;
  readonly key: string;
  readonly session: string;
  readonly options: AskOptions;
  /** What tools gave before it. */
  readonly given?: Given | undefined;
}

/** Asks metacog before an agent acts. */
export class Client {
  readonly url: string;
  readonly run: string;
  readonly deadline: number;
  readonly retrySeconds: number;
  readonly #transport: Transport;
  readonly #options: ClientOptions;
  #reports = new Set<Promise<void>>();
  #spool: Spool | null;
  #outputs: Outputs | null;

  constructor(options: ClientOptions = {}) {
    const url = (options.url || environment("METACOG_URL")).replace(/(\/+api\/v1)?\/*$/, "");
    const key = options.apiKey || environment("METACOG_API_KEY");
    if (!url || !key) {
      throw new NotConfigured(`There is no ${url ? "key (METACOG_API_KEY)" : "address (METACOG_URL)"} of metacog.`);
    }
    if (!/^https?:\/\//.test(url)) throw new NotConfigured(`${url} is no address such as https://metacog.example.org.`);
    if (!/^[\x20-\x7e]+$/.test(key)) throw new NotConfigured("The key holds characters that no key has.");
    if (!globalThis.crypto?.subtle) throw new NotConfigured("There is no WebCrypto: a page needs https, or localhost.");
    this.url = url;
    this.run = options.run || crypto.randomUUID();
    this.deadline = options.deadline ?? DEADLINE_SECONDS;
    this.retrySeconds = options.retrySeconds ?? RETRY_SECONDS;
    this.#options = { ...options, url, apiKey: key };
    this.#transport = new Transport(url, key, options.fetch);
    this.#spool = options.spool ? new Spool(options.spool, this.#transport) : null;
    this.#outputs = options.outputs === false ? null : new Outputs();
  }

  /** Give this client for another run of the agent. */
  forRun(run: string): Client {
    const other = new Client({ ...this.#options, run, spool: undefined });
    other.#spool = this.#spool;
    other.#reports = this.#reports;
    other.#outputs = this.#outputs;
    return other;
  }

  /**
   * Ask whether this may be done, and wait for a person where metacog wants one.
   *
   * Never rejects because of metacog: what cannot be asked, or is not decided within `deadline` seconds, is not allowed.
   */
  async gate(asked: Asked, options: GateOptions = {}): Promise<Outcome> {
    const until = this.#until(options.deadline);
    const question = await this.#question(asked, options, true);
    let told = await this.#ask(question, until);
    while (told.verdict === "pending" && told.held !== null) {
      const { held, reviewUrl } = told;
      options.onHeld?.(told);
      told = await this.#wait(held, until, options.signal, question);
      if (told.held !== held) continue;
      told = located(told, reviewUrl);
      if (told.verdict === "pending") break;
    }
    return about(question, told);
  }

  /**
   * Ask a person a question (a text), wait, and return the answer: one of `choices`, what meets `schema`, or any text.
   * Throws `NotAnswered` where there is none, and `Unreachable` and `Refused`.
   */
  async ask<Answer = Json>(asked: string, options?: QuestionOptions): Promise<Answer>;
  /** Ask, and do not wait: the verdict is `pending`, with `held`, where a person decides. */
  async ask(asked: Asked, options?: AskOptions): Promise<Outcome>;
  async ask(asked: Asked | string, options: AskOptions & QuestionOptions = {}): Promise<unknown> {
    if (typeof asked === "string") return this.#answer(asked, options);
    const question = await this.#question(asked, options, true);
    return about(question, await this.#ask(question, this.#until(options.deadline)));
  }

  /**
   * Wait for the decision about a held item; `deadline: 0` looks once.
   *
   * To go on after a crash, rather call `gate` again: the same call id of the same run is the same held item. Of two
   * equal calls in one session, which are one held item, one may be made: give what was `asked` to know which.
   */
  async wait(
    held: string,
    options: Cancellable & Pick<AskOptions, "deadline" | "session"> & { readonly asked?: Asked | undefined } = {},
  ): Promise<Outcome> {
    const { asked, deadline, session, signal } = options;
    const question = asked && (await this.#question(asked, { session, signal }));
    const told = await this.#wait(held, this.#until(deadline), signal, question);
    return question ? about(question, told) : { ...told, session: session || this.run };
  }

  /** Take a question back, and return the decision; `Refused` (409) where it is decided already. */
  async withdraw(held: string, reason = "", options: Cancellable = {}): Promise<Decision> {
    return this.call("POST", `/held/${encodeURIComponent(held)}/decision`, { verdict: "withdraw", reason }, options);
  }

  /**
   * Report what became of an approved call, once: `held` is its outcome's. Then its approval is used up. The same again
   * gives the first back; `Refused` (409) where another was reported, or the call was not approved.
   */
  async report(
    held: string,
    status: CallOutcome["status"],
    options: Cancellable & { readonly detail?: string; readonly result?: unknown } = {},
  ): Promise<CallOutcome> {
    const sent = { status, detail: options.detail ?? "", result: options.result ?? null };
    try {
      return await this.call("POST", `/held/${encodeURIComponent(held)}/outcome`, sent, options);
    } catch (error) {
      const standing = error instanceof Refused && error.status === 409 && (error.problem["outcome"] as CallOutcome | null);
      if (!standing) throw error;
      const { reported_at: _, ...same } = standing;
      if (asJson(same) !== asJson(sent)) throw error;
      return standing;
    }
  }

  /**
   * Make a call, and have it reported what became of it, if a person allowed it: `outcome` is `gate`'s.
   *
   *     const receipt = await client.reporting(outcome, () => refund(outcome.arguments));
   *
   * What it throws is `failed`, with the error's words. See `reportSoon`.
   */
  async reporting<Result>(outcome: Outcome, make: () => Result | PromiseLike<Result>): Promise<Result> {
    let result: Result;
    try {
      result = await make();
    } catch (error) {
      this.reportSoon(outcome, "failed", { detail: wordsOf(error) });
      throw error;
    }
    this.reportSoon(outcome, "done", { result });
    return result;
  }

  /**
   * Report what became of a call, in the background and without ever throwing: nobody waits for it but a process that
   * ends, for 5 seconds. Of a `result` the first 16 KiB. What metacog does not take is a warning on the console. What a
   * call gave goes along with the session's next response, too, whoever allowed it.
   */
  reportSoon(outcome: Outcome, status: Report["status"], options: { readonly detail?: string; readonly result?: unknown } = {}): void {
    const { session, tool, text } = outcome;
    if (status !== "skipped" && session !== null && text === null) {
      this.#outputs?.add(session, options.result ?? options.detail, tool ?? "");
    }
    if (!isReported(outcome)) return;
    const { held } = outcome;
    const report = reportOf(status, options.detail ?? "", options.result ?? null);
    const full = this.#reports.size >= MOST_REPORTS && new Unreachable(`${MOST_REPORTS} reports wait for an answer already`);
    const sending: Promise<void> = (full ? Promise.reject(full) : this.#sent(held, report))
      .catch((error: unknown) => console.warn(`metacog was not told what became of ${held}: ${wordsOf(error)}`))
      .finally(() => this.#reports.delete(sending));
    this.#reports.add(sending);
  }

  /**
   * Keep what a tool gave, any value: it goes along with the next response of this session (the run).
   * `reporting` does it for the call that it makes. Never throws.
   */
  addOutput(output: unknown, options: { readonly tool?: string; readonly session?: string } = {}): void {
    this.#outputs?.add(options.session || this.run, output, options.tool);
  }

  /** Wait for the reports that are on their way: where a program is stopped as soon as it has answered. */
  async reported(): Promise<void> {
    await Promise.all(this.#reports);
  }

  async #sent(held: string, report: Report): Promise<void> {
    const path = `/held/${encodeURIComponent(held)}/outcome`;
    try {
      await this.#transport.text({ method: "POST", path, body: asJson(report), until: Until.after(REPORT_SECONDS) });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status === 422 && report.result !== null) return this.#sent(held, { ...report, result: null }); // too deep, say
      if (error.status !== 409 || !error.problem["outcome"]) throw error; // else it was reported before
    }
  }

  /** Return what the agent should read before its next turn, in parts. */
  async context(options: Cancellable = {}): Promise<Context> {
    return this.call("GET", "/context", undefined, options);
  }

  /** Return the same as one text for the prompt. */
  async contextText(options: Cancellable = {}): Promise<string> {
    return this.#transport.text({ method: "GET", path: "/context", accept: "text/plain", ...this.#soon(options) });
  }

  /** Add to the team's memory; the same text again is the same memory. */
  async remember(
    text: string,
    options: Cancellable & { topic?: string; source?: string; confidence?: number } = {},
  ): Promise<Memory> {
    const { signal, ...rest } = options;
    return this.call("POST", "/memory", { text, ...rest }, { signal });
  }

  /** Search the team's memory. */
  async recall(query: string, options: Cancellable = {}): Promise<MemoryPage["items"]> {
    return (await this.call<MemoryPage>("GET", "/memory", undefined, { ...options, query: { q: query } })).items;
  }

  /** Return up to `limit` decisions, oldest first, from behind the last `seq` that was dealt with. */
  async decisions(
    after = 0,
    options: Cancellable & { limit?: number; session?: string; metadata?: Readonly<Record<string, string>> } = {},
  ): Promise<Decision[]> {
    const { signal, limit, session, metadata = {} } = options;
    const named = Object.entries(metadata).map(([name, value]) => [`metadata.${name}`, value] as const);
    const query = { after, limit, session, ...Object.fromEntries(named) };
    return (await this.call<DecisionPage>("GET", "/decisions", undefined, { signal, query })).items;
  }

  /**
   * Record what the agent said, of which nothing is held. With a `spool` it is only kept, and sent in the background;
   * without one it is sent now. `fields` are others of the response, such as `cycle` or `problem`.
   */
  async record(
    response: string,
    options: Cancellable & Pick<AskOptions, "session" | "userMessage" | "metadata"> & { fields?: Partial<ResponseBody> } = {},
  ): Promise<void> {
    const body = {
      id: crypto.randomUUID(),
      response,
      items: [],
      session: options.session || this.run,
      user_message: options.userMessage,
      metadata: { run: this.run, ...options.metadata },
      occurred_at: new Date().toISOString(), // it may be sent later
      ...options.fields,
    };
    const hasOwn = options.fields !== undefined && "command_output" in options.fields;
    const given = hasOwn ? undefined : this.#outputs?.given(body.session ?? "", String(body.id));
    const whole = withOutput(body, given);
    if (this.#spool) await this.#spool.keep(asJson(whole));
    else await this.call("POST", "/responses", whole, options);
    given?.sent();
  }

  /** Send what the spool keeps, and return how many records are left. */
  async flush(deadline?: number): Promise<number> {
    return this.#spool ? this.#spool.send(this.#until(deadline)) : 0;
  }

  /** Stop sending in the background; what was not sent stays in the spool's store. */
  close(): void {
    this.#spool?.close();
  }

  /**
   * Make any call of the API (`path` below /api/v1) and return its answer. `again: false` for what must not be sent
   * twice. Throws `Unreachable` and `Refused`, as all that returns no `Outcome`.
   */
  async call<Answer>(
    method: "GET" | "POST",
    path: string,
    body?: unknown,
    options: Cancellable & { again?: boolean; query?: Readonly<Record<string, string | number | undefined>> } = {},
  ): Promise<Answer> {
    return this.#transport.json<Answer>({
      method,
      path: path + queried(options.query ?? {}),
      body: body === undefined ? undefined : asJson(body),
      again: options.again,
      ...this.#soon(options),
    });
  }

  async #answer(text: string, options: QuestionOptions): Promise<unknown> {
    const { schema, choices, callId, userMessage, expiresIn, metadata, signal } = options;
    const session = options.session || this.run;
    const what = ["question", text, schema ?? null, choices ?? null];
    const body = {
      id: callId === undefined ? crypto.randomUUID() : await derived(this.run, session, callId, ...what),
      response: "",
      items: [{ kind: "question", text, schema, choices, expires_in: expiresIn }],
      session,
      user_message: userMessage,
      metadata: { run: this.run, ...metadata },
    };
    const until = this.#until(options.deadline);
    const posted = await this.call<Assessment>("POST", "/responses", body, { signal });
    const item = posted.items[0];
    if (typeof item?.held !== "string") throw new TypeError("A question is held.");
    const { held, review_url: reviewUrl } = item;
    options.onAsked?.(held, reviewUrl);
    for (;;) {
      const path = `/held/${encodeURIComponent(held)}`;
      const { decision } = await this.#transport.json<Held>({ method: "GET", path, until, waits: WAIT_SECONDS, signal });
      if (decision?.verdict === "answer") return decision.answer;
      if (decision) throw new NotAnswered(decision.verdict, decision.reason, held, reviewUrl);
      if (until.left <= 0) throw new NotAnswered("pending", "", held, reviewUrl);
      await pause(Math.min(AGAIN_SECONDS, until.left), signal);
    }
  }

  #until(deadline: number | undefined): Until {
    return Until.after(deadline ?? this.deadline);
  }

  #soon(options: Cancellable): Pick<Request, "until" | "signal"> {
    return { until: Until.after(this.retrySeconds), signal: options.signal };
  }

  async #question(asked: Asked, options: AskOptions, isAsked = false): Promise<Question> {
    const session = options.session || this.run;
    const key = await keyOf(this.run, session, asked);
    // What an approval is bound to.
    const bound = isToolCall(asked) ? { ...asked, callId: asked.callId ?? key } : asked;
    return { asked: bound, key, session, options, given: isAsked ? this.#outputs?.given(session, key) : undefined };
  }

  async #body({ asked, key, session, options, given }: Question): Promise<string> {
    const common = { require_review: options.requireReview || undefined, expires_in: options.expiresIn };
    let item: object;
    if (isToolCall(asked)) {
      const { name, schema, description } = asked;
      const call_id = await callIdOf({ asked, key });
      const checked = schema && tooLarge(schema) ? { schema_omitted: true } : { schema };
      item = { kind: "tool_call", name, arguments: asked.arguments ?? null, call_id, ...checked, description, ...common };
    } else {
      item = { kind: asked.kind ?? "chat", text: asked.text, ...common };
    }
    const body = {
      id: key,
      response: isToolCall(asked) ? (asked.description ?? "") : asked.text,
      items: [item],
      session,
      metadata: { run: this.run, ...options.metadata },
      user_message: options.userMessage,
    };
    return asJson(withOutput(body, given));
  }

  async #ask(question: Question, until: Until, seconds = this.retrySeconds): Promise<Outcome> {
    const { asked, options } = question;
    let body: string;
    try {
      body = await this.#body(question);
    } catch (error) {
      if (!isNoJson(error)) throw error;
      return outcome("unreachable", { reason: `what is asked about is no JSON: ${error.message}` });
    }
    try {
      const request = { method: "POST", path: "/responses", body, until: until.sooner(seconds) } as const;
      const told = assessed(await this.#transport.json<Assessment>({ ...request, signal: options.signal }), asked);
      question.given?.sent();
      return told;
    } catch (error) {
      if (error instanceof Unreachable) {
        return options.unreachable === "allow" ? unasked(asked, error.message) : outcome("unreachable", { reason: error.message });
      }
      if (error instanceof Refused && error.status === 422 && error.errors.some((each) => each["pointer"] === "/id")) {
        // Asked before with something else around it: another description, or what tools gave to another process.
        const held = await this.#askedBefore(question, until.sooner(seconds));
        if (held !== null) return outcome("pending", { held });
        return this.#ask({ ...question, key: await derived(question.key, body) }, until, seconds);
      }
      // Whatever this call says: a key that was revoked or a call too large to be shown must not open the gate.
      if (error instanceof Refused) {
        return outcome("unreachable", { reason: refused(error) });
      }
      if (!(error instanceof TypeError)) throw error;
      return outcome("unreachable", { reason: "what answered is not metacog, or one that this client does not know" });
    }
  }

  /**
   * Find the item that a question is held as, if nobody knows it by the question itself; null: posted again it is.
   * metacog knows a call that waits, not how one was decided; of words neither.
   */
  async #askedBefore(question: Question, until: Until): Promise<string | null> {
    const { asked, session, options } = question;
    const callId = await callIdOf(question);
    const isHeldAs = (item: Held): boolean => {
      if (!isToolCall(asked)) return item.kind === (asked.kind ?? "chat") && item.text === asked.text;
      if (item.call_id !== callId || item.outcome) return false;
      return asJson([item.name, item.arguments]) === asJson([asked.name, asked.arguments ?? null]);
    };
    try {
      for (const state of isToolCall(asked) ? CLOSED : ["pending", ...CLOSED]) {
        for (let after: string | null = ""; after !== null; ) {
          const path = `/held${queried({ state, session, after })}`;
          const page: HeldPage = await this.#transport.json({ method: "GET", path, until, signal: options.signal });
          const found = page.items.find(isHeldAs);
          if (found) return found.id;
          after = page.next;
        }
      }
    } catch (error) {
      if (!(error instanceof Unreachable || error instanceof Refused || error instanceof TypeError)) throw error;
    }
    return null;
  }

  async #wait(held: string, until: Until, signal: AbortSignal | undefined, question?: Question): Promise<Outcome> {
    try {
      for (;;) {
        const path = `/held/${encodeURIComponent(held)}`;
        const item = await this.#transport.json<Held>({ method: "GET", path, waits: WAIT_SECONDS, until, signal });
        if (item.decision !== null) {
          const told = decided(item);
          const given = (item.decision.permission ?? "given") === "given";
          const mine = !question || !item.call_id || item.call_id === (await callIdOf(question));
          if (!told.allowed || (given && mine)) return told;
          return question ? await this.#claim(question, item, told, until) : { ...told, allowed: false, message: NOT_YOURS };
        }
        if (until.left <= 0) return outcome("pending", { held });
        await pause(Math.min(AGAIN_SECONDS, until.left), signal);
      }
    } catch (error) {
      if (error instanceof Unreachable) return outcome("pending", { held, reason: error.message });
      if (error instanceof Refused) {
        return outcome("unreachable", { held, reason: refused(error) });
      }
      if (!(error instanceof TypeError)) throw error;
      return outcome("unreachable", { held, reason: "what answered is not metacog" });
    }
  }

  /**
   * Take an approval that several calls waited for: posted again, it passes for one of them. One that is used up, since
   * its outcome was reported, is asked about anew. The id is made from the decision, so that whoever took it and was
   * killed takes it again.
   */
  async #claim(question: Question, item: Held, told: Outcome, until: Until): Promise<Outcome> {
    const { asked, options } = question;
    const used = item.decision?.permission === "used";
    const again = async (asked: Asked, ...parts: string[]): Promise<Outcome> => {
      const key = await derived(question.key, item.decision?.id, ...parts);
      return this.#ask({ ...question, asked, key, options: { ...options, unreachable: "deny" } }, until, until.left);
    };
    const claimed = await again(isToolCall(asked) && !used ? { ...asked, arguments: told.arguments } : asked);
    if (claimed.verdict !== "pass") return claimed;
    if (used) return again(asked, "used"); // by this very call
    return { ...told, arguments: claimed.arguments, text: claimed.text };
  }
}

function assessed(verdict: Assessment, asked: Asked): Outcome {
  const item = verdict.items[0];
  if (item === undefined) throw new TypeError("The assessment has no item.");
  switch (item.disposition) {
    case "hold":
      if (typeof item.held !== "string") throw new TypeError("A held item has an id.");
      return outcome("pending", { held: item.held, reviewUrl: item.review_url });
    case "reject": {
      const reason = item.rule?.["reason"];
      return outcome("deny", { reason: typeof reason === "string" ? reason : "", by: "system" });
    }
    case "pass":
    case "mark":
    case "note":
      if (isToolCall(asked)) {
        if (item.arguments === undefined) throw new TypeError("A call that passes has arguments.");
        return outcome("pass", { arguments: item.arguments });
      }
      return outcome("pass", { text: item.text });
    default: // one that is not known lets nothing through
      throw new TypeError("The disposition is not known.");
  }
}

function decided(item: Held): Outcome {
  const decision = item.decision;
  const verdict = decision === null ? undefined : DECIDED[decision.verdict];
  if (decision === null || verdict === undefined) throw new TypeError("The decision is not known.");
  const { text, reason } = decision;
  const by = decision.decided_by || decision.by;
  const told = outcome(verdict, { arguments: decision.arguments, text, reason, held: item.id, by });
  if (verdict !== "edit" || decision.arguments === null) return told;
  // Else a model believes in those that it gave.
  return { ...told, message: `${told.message} The arguments are now ${asJson(told.arguments)}.` };
}

function refused(error: Refused): string {
  return error.detail === NOT_METACOG ? error.message : `metacog refused to be asked: ${error.message}`;
}

/** Add what tools gave to a response; where both are too large for one, a line that says so. */
function withOutput(body: object, given: Given | undefined): object {
  if (!given?.text) return body;
  const whole = { ...body, command_output: given.text };
  if (bytesOf(whole) <= MAX_BODY) return whole;
  return { ...body, command_output: "[what tools gave before is left out: this response is too large]" };
}

function about({ asked, session }: Question, told: Outcome): Outcome {
  return { ...told, session, tool: isToolCall(asked) ? asked.name : null };
}

/** Add where it is decided, which only the first answer says. */
function located(told: Outcome, reviewUrl: string | null): Outcome {
  const { verdict, reason, held } = told;
  return verdict === "pending" ? outcome(verdict, { reason, held, reviewUrl }) : { ...told, reviewUrl };
}

/** Let a call through that could not be asked about, because it said so. */
function unasked(asked: Asked, reason: string): Outcome {
  const message = `Allowed without a review, as this call permits: ${ended(reason)}`;
  const what = isToolCall(asked) ? { arguments: asked.arguments } : { text: asked.text };
  return { ...outcome("unreachable", { reason, ...what }), allowed: true, message };
}

/** Give what a call is bound to. Ids of any length are told apart; metacog takes 255 characters. */
async function callIdOf({ asked, key }: Pick<Question, "asked" | "key">): Promise<string> {
  const callId = asked.callId ?? key;
  return [...callId].length <= MAX_CALL_ID ? callId : derived(callId);
}

function tooLarge(schema: Readonly<Record<string, unknown>>): boolean {
  return bytesOf(schema) > MAX_SCHEMA;
}

function bytesOf(value: object): number {
  return new TextEncoder().encode(asJson(value)).length;
}

function queried(query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

function environment(name: string): string {
  // Deno asks the user before it gives a variable, and throws when the answer is no; browsers have no `process`.
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name] ?? "";
  } catch {
    return "";
  }
}
