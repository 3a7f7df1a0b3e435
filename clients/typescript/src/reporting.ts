import type { Outcome } from "./gating.js";

/** For how long a report is tried for; nobody waits for it but a process that ends. */
export const REPORT_SECONDS = 5;
export const MOST_REPORTS = 1_000; // on their way
const MAX_DETAIL = 10_000; // characters, as metacog takes them
const MAX_RESULT = 16_384; // bytes of JSON
const MAX_ERROR = 1_000;

export interface Report {
  readonly status: "done" | "failed" | "skipped";
  readonly detail: string;
  readonly result: unknown;
}

/** Tell whether there is something to report: a call that a person allowed. Words, and what a rule let pass, are not. */
export function isReported(told: Outcome): told is Outcome & { held: string } {
  return told.held !== null && told.text === null && (told.verdict === "approve" || told.verdict === "edit");
}

/** Give what metacog takes of this. */
export function reportOf(status: Report["status"], detail: string, result: unknown): Report {
  return { status, detail: plain(detail, MAX_DETAIL), result: fitted(result) };
}

/** Say in short what was thrown. */
export function wordsOf(error: unknown): string {
  try {
    return String(error).slice(0, MAX_ERROR);
  } catch {
    return typeof error; // its own fault
  }
}

/** Give of a result what metacog takes: itself, or the beginning of its text where it is too large or no JSON. */
function fitted(result: unknown): unknown {
  let size = 0;
  const counted = (name: string, value: unknown): unknown => {
    size += name.length + (typeof value === "string" ? value.length : 1);
    return size > MAX_RESULT ? undefined : value; // so that the largest result takes no longer than it may be long
  };
  let text = typeof result === "string" ? result : "";
  if (typeof result !== "string") {
    try {
      text = JSON.stringify(result, counted) ?? "null";
      if (size <= MAX_RESULT && bytes(text) <= MAX_RESULT) return JSON.parse(text); // as it is now: who has it may change it
    } catch {
      text = wordsOf(result);
    }
  }
  text = plain(text, MAX_RESULT);
  while (bytes(JSON.stringify(text)) > MAX_RESULT) text = plain(text, Math.floor(text.length * 0.9));
  return text;
}

/** Give the beginning of a text as one that can be stored anywhere. */
function plain(text: string, most: number): string {
  return text.slice(0, most).replace(/\0/g, "").replace(/\p{Surrogate}/gu, "\ufffd");
}

function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
