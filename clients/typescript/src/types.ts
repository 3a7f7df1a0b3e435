import type { components } from "./schema.js";

type Schemas = components["schemas"];

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

export type Assessment = Schemas["Assessment"];
export type ItemPart = Schemas["ItemPart"];
export type Held = Schemas["Held"];
export type HeldPage = Schemas["HeldPage"];
export type CallOutcome = Schemas["Outcome"];
export type Decision = Schemas["Decided"];
export type DecisionPage = Schemas["DecidedPage"];
export type Context = Schemas["Context"];
export type Memory = Schemas["Remembered"];
export type MemoryPage = Schemas["MemoryPage"];
export type ProblemDocument = Schemas["ProblemDocument"];
export type ResponseBody = Schemas["ResponseBody"];
export type ToolCallBody = Schemas["ToolCallBody"];
export type ItemBody = Schemas["ItemBody"];
