import {useEffect, useState} from 'preact/hooks';

/** The view and its options, as they stand in the address: a link shows the same. */
export type Route = Readonly<Record<string, string>>;

export const VIEWS = {
  overview: 'Overview',
  timeline: 'Timeline',
  log: 'Logs',
  object: 'Objects',
} as const;
export type View = keyof typeof VIEWS;

const current = (): Route => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

export const viewOf = (route: Route): View =>
  (Object.keys(VIEWS) as View[]).find((view) => view in route) ?? 'overview';

/** Address of a view. */
export const addressOf = (route: Route): string => {
  const text = Object.entries(route)
    .filter(([key, value], index) => index === 0 || value !== '' || key in VIEWS)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `#${text.join('&')}`;
};

/** Changes options without a new entry in the history; an empty text removes one. */
export type ChangeRoute = (change: Route) => void;

export function useRoute(): [Route, ChangeRoute] {
  const [route, setRoute] = useState(current);
  useEffect(() => {
    const listen = (): void => setRoute(current());
    addEventListener('hashchange', listen);
    return () => removeEventListener('hashchange', listen);
  }, []);
  const change = (next: Route): void => {
    history.replaceState(null, '', addressOf({...current(), ...next}));
    setRoute(current());
  };
  return [route, change];
}
