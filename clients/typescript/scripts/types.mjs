// Writes src/schema.ts from a metacog's OpenAPI document:  npm run types -- http://127.0.0.1:8000
// With --print the types go to stdout. Only what this client sends and reads is kept.
import { writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const USED = ["Assessment", "Held", "HeldPage", "Decided", "DecidedPage", "Outcome", "Context", "Remembered", "MemoryPage", "ProblemDocument"];
const BODIES = { ResponseBody: "/api/v1/responses", MemoryBody: "/api/v1/memory", SecondLook: "/api/v1/held/{held_id}/decision" };
const HEAD = "// Made by scripts/types.mjs from /api/v1/openapi.json; not edited by hand.\n\n";

/** The document with the schemas that are used, and those that they name, and no paths. */
function used(document) {
  const all = { ...document.components.schemas };
  for (const [name, path] of Object.entries(BODIES)) {
    const { oneOf: _, ...body } = document.paths[path].post.requestBody.content["application/json"].schema;
    all[name] = body;
  }
  const schemas = {};
  const wanted = [...USED, ...Object.keys(BODIES)];
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (name in schemas) continue;
    schemas[name] = all[name];
    for (const [, other] of JSON.stringify(all[name]).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) wanted.push(other);
  }
  // A title says a field's name once more.
  const plain = JSON.parse(JSON.stringify(schemas), (key, value) => (key === "title" && typeof value === "string" ? undefined : value));
  const sorted = Object.fromEntries(Object.entries(plain).sort(([one], [two]) => (one < two ? -1 : 1)));
  return { openapi: document.openapi, info: document.info, paths: {}, components: { schemas: sorted } };
}

export async function types(url) {
  const answer = await fetch(new URL("/api/v1/openapi.json", url));
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  const text = astToString(await openapiTS(used(await answer.json()), { alphabetize: true, defaultNonNullable: false }));
  return HEAD + text.slice(text.indexOf("export interface components")).replace(/\nexport type (\$defs|operations) = [^\n]*/g, "");
}

const [url, print] = process.argv.slice(2);
if (url !== undefined) {
  const text = await types(url);
  if (print === "--print") process.stdout.write(text);
  else await writeFile(new URL("../src/schema.ts", import.meta.url), text);
}
