// Whether a server is new enough. Nothing here knows VS Code.

// Both are released together: the extension needs what its own version has, and later versions keep that.
export function isTooOld(server: string | undefined, needed: string): boolean {
  const [ours, theirs] = [parts(needed), parts(server ?? "0")];
  const differs = [0, 1].find((at) => (ours[at] ?? 0) !== (theirs[at] ?? 0));
  return differs !== undefined && (theirs[differs] ?? 0) < (ours[differs] ?? 0);
}

function parts(version: string): number[] {
  return version.split(".").map((part) => Number.parseInt(part, 10) || 0);
}

export function tooOld(server: string | undefined, needed: string): string {
  return `stateward ${server ?? "of an unknown version"} is too old for this extension, which needs ${needed} or later: update it, then run "stateward daemon restart".`;
}

export function notThere(program: string): string {
  return `The program "${program}" was not found: install stateward so that it is on the PATH, or name it in the setting stateward.server.command.`;
}

export function endedAtOnce(command: string[], said: string): string {
  const last = said.trim().split("\n").at(-1);
  return `"${command.join(" ")}" does not serve${last ? `: ${last}` : ""}. Install a current stateward, or name it in the setting stateward.server.command.`;
}
