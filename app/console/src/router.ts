/**
 * The URL of each view, and the history of the tab.
 *
 * This module owns the paths, which `pages.py` serves. A view reads its subject from the parameters of its URL,
 * so that any name fits and every view can be linked.
 */
import { useEffect, useState } from "preact/hooks";
import { type Name, putName } from "./names";

export type View =
  | "overview"
  | "stream"
  | "entry"
  | "groups"
  | "pending"
  | "produce"
  | "consume"
  | "manage"
  | "command"
  | "server"
  | "access";

export interface Place {
  readonly view: View;
  readonly parameters: URLSearchParams;
}

/** The names and texts in the parameters of a URL. */
export type Parameters = Readonly<Record<string, Name | number | undefined>>;

/** Returns the URL of a view. */
export function href(view: View, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === "") continue;
    putName(query, name, typeof value === "number" ? String(value) : value);
  }
  const path = view === "overview" ? "/" : `/console/${view}`;
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Shows another view, as if the reader had followed a link. */
export function go(url: string, options: { readonly replace?: boolean } = {}): void {
  history[options.replace ? "replaceState" : "pushState"](null, "", url);
  changed();
}

/** Returns the place that the tab shows, and follows it. */
export function usePlace(): Place {
  const [place, setPlace] = useState(placeNow);
  useEffect(() => {
    const follow = () => setPlace(placeNow());
    watchers.add(follow);
    follow();
    return () => void watchers.delete(follow);
  }, []);
  return place;
}

/** Lets links to views change the place without loading the document again. */
export function followLinks(): void {
  addEventListener("popstate", changed);
  addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey)
      return;
    const link = (event.target as Element).closest?.("a");
    if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (viewOf(link.pathname) === undefined) return;
    event.preventDefault();
    go(link.href);
    scrollTo(0, 0);
    document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
  });
}

const VIEWS: ReadonlySet<string> = new Set([
  ...["stream", "entry", "groups", "pending", "produce", "consume", "manage"],
  ...["command", "server", "access"],
]);
const watchers = new Set<() => void>();

function changed(): void {
  watchers.forEach((follow) => follow());
}

function placeNow(): Place {
  return { view: viewOf(location.pathname) ?? "overview", parameters: new URLSearchParams(location.search) };
}

function viewOf(path: string): View | undefined {
  if (path === "/") return "overview";
  const name = path.replace(/^\/console\//, "");
  return name !== path && VIEWS.has(name) ? (name as View) : undefined;
}
