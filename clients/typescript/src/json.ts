/**
 * Write the same value as the same text in every process, and as the Python client does: fields in the order of their
 * code points, no spaces, numbers as Python writes them. A question's schema stays in its order: people get the fields
 * of its form in it. Throw what `isNoJson` knows where it is none.
 */
export function asJson(value: unknown): string {
  const text = JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === "number" && !Number.isFinite(each)) throw new TypeError(`${each} is no JSON.`);
    return each;
  }) as string | undefined;
  if (text === undefined) throw new TypeError(`${typeof value} is no JSON.`);
  return written(JSON.parse(text));
}

function written(value: unknown, isSorted = true): string {
  if (typeof value === "number") return number(value);
  if (Array.isArray(value)) return `[${value.map((each) => written(each, isSorted)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value), kept = "kind" in value && value.kind === "question" ? "schema" : undefined;
    if (isSorted) fields.sort(([one], [two]) => byCodePoints(one, two));
    const parts = fields.map(([name, each]) => `${JSON.stringify(name)}:${written(each, isSorted && name !== kept)}`);
    return `{${parts.join(",")}}`;
  }
  return JSON.stringify(value);
}

function number(value: number): string {
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 1e-4) return JSON.stringify(value);
  // Python turns to an exponent sooner, and gives it two digits: 0.00001 is 1e-05 there.
  return value.toExponential().replace(/e-(\d)$/, "e-0$1");
}

/** JavaScript compares UTF-16 units: it has U+10000 before U+FFFF. */
function byCodePoints(one: string, two: string): number {
  const [some, others] = [[...one], [...two]];
  for (let place = 0; place < Math.min(some.length, others.length); place++) {
    const apart = (some[place] as string).codePointAt(0)! - (others[place] as string).codePointAt(0)!;
    if (apart !== 0) return apart;
  }
  return some.length - others.length;
}

/** Tell whether `asJson` threw this: a number or kind of value that JSON has not, a cycle, or too many levels. */
export function isNoJson(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError;
}
