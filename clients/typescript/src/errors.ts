import type { ProblemDocument } from "./types.js";

/** Everything that this package throws about metacog. */
export class MetacogError extends Error {
  override readonly name: string = "MetacogError";
}

/** No address, or no key. */
export class NotConfigured extends MetacogError {
  override readonly name = "NotConfigured";
}

/** No answer within the time that was given: nobody there, too busy, or broken. */
export class Unreachable extends MetacogError {
  override readonly name = "Unreachable";
}

/** The spool holds as much as it may: nothing was added, and nothing is dropped. */
export class SpoolFull extends MetacogError {
  override readonly name = "SpoolFull";
}

/** A question has no answer: it was rejected, has expired or was withdrawn, or is `pending` after the deadline. */
export class NotAnswered extends MetacogError {
  override readonly name = "NotAnswered";
  readonly verdict: string;
  /** The person's. */
  readonly reason: string;
  /** The question's id. */
  readonly held: string;
  readonly reviewUrl: string | null;

  constructor(verdict: string, reason: string, held: string, reviewUrl: string | null) {
    const told =
      {
        reject: "A person rejected the question.",
        expire: "Nobody answered the question in time, and it has expired.",
        withdraw: "The question was withdrawn before it was answered.",
        pending: "Nobody has answered the question so far.",
      }[verdict] ?? `The question has no answer: ${verdict}.`;
    super(reason ? `${told} Reason: ${reason}` : told);
    this.verdict = verdict;
    this.reason = reason;
    this.held = held;
    this.reviewUrl = reviewUrl;
  }
}

/** A webhook that none of the secrets signed, or not within the last minutes. */
export class BadSignature extends MetacogError {
  override readonly name = "BadSignature";
}

/** metacog answered that it will not: asked again, it would say the same. */
export class Refused extends MetacogError {
  override readonly name = "Refused";
  /** HTTP's. */
  readonly status: number;
  /** One sentence. */
  readonly detail: string;
  /** What is wrong where: a JSON Pointer and a sentence each. */
  readonly errors: ProblemDocument["errors"];
  /** The whole document. */
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    detail: string,
    errors: ProblemDocument["errors"] = [],
    problem: Readonly<Record<string, unknown>> = {},
  ) {
    super(`${detail} (${status})`);
    this.status = status;
    this.detail = detail;
    this.errors = errors;
    this.problem = problem;
  }
}
