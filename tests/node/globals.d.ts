// What the page's scripts find there besides the browser's own.
declare const htmx: any;

// Which element an id or an event names is not known here: what is asked of one is not checked.
interface EventTarget {
  [name: string]: any;
}
interface Event {
  detail: any;
}
