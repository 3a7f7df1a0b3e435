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
