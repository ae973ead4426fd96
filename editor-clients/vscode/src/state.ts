// What a level of the state looks like in a tree. Nothing here knows VS Code.

// What `read_state` answers with the projection `keys`.
export interface Level {
  meta: { type: string; size?: number; length?: number };
  keys: Record<string, string> | string[];
}

export interface Place {
  label: string;
  kind: string;
  // Absent where a key is no name of the grammar of paths: it is read through its parent.
  path?: string;
  parent?: string;
}

const NAME = /^[A-Za-z_$][A-Za-z0-9_$-]*$/;
const ELEMENTS_MAX = 1000;

export function roots(scopes: string[]): Place[] {
  return ["effective", ...scopes].map((name) => ({ label: name, kind: "object", path: name }));
}

export function children(parent: string, { meta, keys }: Level): Place[] {
  if (Array.isArray(keys)) {
    const shown = Math.min(meta.length ?? 0, ELEMENTS_MAX);
    return Array.from({ length: shown }, (_, at) => ({ label: `[${at}]`, kind: "", path: `${parent}[${at}]`, parent }));
  }
  return Object.entries(keys).map(([label, kind]) =>
    NAME.test(label) ? { label, kind, path: `${parent}.${label}`, parent } : { label, kind, parent },
  );
}

// An element tells its kind only when it is read, so that a list of a thousand is one request.
export function canOpen({ kind, path }: Place): boolean {
  return path !== undefined && ["object", "array", ""].includes(kind);
}
