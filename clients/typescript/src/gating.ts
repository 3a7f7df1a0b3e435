import { asJson, isNoJson } from "./json.js";

// Of the names that ids are made from, the same as the Python client's.
const NAMESPACE = "6d657461-636f-5067-8174-652d63616c6c";

/** A call that an agent is about to make. */
export interface ToolCall {
  readonly name: string;
  /** Any JSON. */
  readonly arguments: unknown;
  /** The framework's own id: the same call asked again under it, in this run and by any process, is one held item. */
  readonly callId?: string | undefined;
  /** The JSON Schema that a reviewer's edit must meet. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  readonly description?: string | undefined;
}

/** Words that an agent is about to say, remember or hand on. */
export interface Text {
  readonly text: string;
  /** `chat`, unless given; as metacog has them: chat, remember, task… */
  readonly kind?: string | undefined;
  readonly callId?: string | undefined;
}

export type Asked = ToolCall | Text;

export type OutcomeVerdict =
  | "pass"
  | "approve"
  | "edit"
  | "reject"
  | "deny"
  | "expired"
  | "withdrawn"
  | "unreachable"
  | "pending";

/** What may be done now: only if `allowed`, a call with `arguments`, words as `text`, both as decided. */
export interface Outcome {
  readonly verdict: OutcomeVerdict;
  readonly allowed: boolean;
  /** One English sentence for the model. */
  readonly message: string;
  readonly arguments: unknown;
  readonly text: string | null;
  readonly reason: string;
  /** The held item's id, where there is one. */
  readonly held: string | null;
  readonly by: string | null;
  /** Its page, where a person decides it: `gate` and `ask` know it, `wait` alone does not. */
  readonly reviewUrl: string | null;
  /** The session that it was asked about in, and the tool's name: what it gives is known by them. */
  readonly session: string | null;
  readonly tool: string | null;
}

const MESSAGES: Readonly<Record<OutcomeVerdict, string>> = {
  pass: "Allowed.",
  approve: "A reviewer approved this.",
  edit: "A reviewer changed this before it was allowed.",
  reject: "Not done: a reviewer rejected this.",
  deny: "Not done: a rule forbids this.",
  expired: "Not done: nobody decided this in time, and it has expired.",
  withdrawn: "Not done: this was withdrawn before it was decided.",
  unreachable: "Not done: the review service could not be asked, and without it nothing is done.",
  pending: "Not done yet: this is held for review, and nobody has decided it so far.",
};

export const isToolCall = (asked: Asked): asked is ToolCall => "name" in asked;

/** Give a sentence the full stop that whoever wrote it left out: another one may follow. */
export function ended(sentence: string): string {
  const given = sentence.trimEnd();
  return /[.!?…。！？]$/.test(given) ? given : `${given}.`;
}

export function outcome(verdict: OutcomeVerdict, fields: Partial<Outcome> = {}): Outcome {
  const reason = fields.reason ?? "";
  let message = MESSAGES[verdict];
  if (reason && verdict !== "pass" && verdict !== "approve") message += ` Reason: ${ended(reason)}`;
  if (verdict === "reject") message += " Do not try the same again in another form.";
  if (verdict === "pending" && fields.reviewUrl) message += ` A person can decide it at ${fields.reviewUrl}.`;
  const allowed = verdict === "pass" || verdict === "approve" || verdict === "edit";
  const nothing = { arguments: null, text: null, held: null, by: null, reviewUrl: null, session: null, tool: null };
  return { ...nothing, verdict, allowed, message, ...fields, reason };
}

/** Give the idempotency key of a question: the same for the same call of the same run, a new one without an id. */
export async function keyOf(run: string, session: string, asked: Asked): Promise<string> {
  if (asked.callId === undefined) return crypto.randomUUID();
  const what = isToolCall(asked) ? ["ToolCall", asked.name, asked.arguments] : ["Text", asked.kind ?? "chat", asked.text];
  try {
    return await derived(run, session, asked.callId, ...what);
  } catch (error) {
    if (!isNoJson(error)) throw error;
    return crypto.randomUUID(); // it cannot be asked about, under whatever key
  }
}

/** A version 5 UUID (RFC 9562) of these parts. */
export async function derived(...parts: readonly unknown[]): Promise<string> {
  const space = Uint8Array.from(NAMESPACE.replaceAll("-", "").match(/../g)!, (each) => parseInt(each, 16));
  const name = new TextEncoder().encode(asJson(parts));
  const named = new Uint8Array(space.length + name.length);
  named.set(space);
  named.set(name, space.length);
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-1", named)).subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (each) => each.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
