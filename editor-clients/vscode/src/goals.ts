// The goals of the workspace with their todos, and how the store is, as the daemon knows them.
import { realpath } from "node:fs/promises";
import { EventEmitter, workspace } from "vscode";
import type { Server } from "./server";
import { type Goal, goalsIn, type Health, type Todo } from "./todos";

// Changes come in bursts, as when an agent adds many todos.
const QUIET_MS = 100;

export class Goals {
  goals: Goal[] = [];
  health: Health = { ok: true, reason: "" };
  private readonly changes = new EventEmitter<void>();
  readonly onChange = this.changes.event;
  private timer: NodeJS.Timeout | undefined;
  private reading = Promise.resolve();

  constructor(private readonly server: Server) {}

  refreshSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), QUIET_MS);
  }

  // One look after the other, so that an old one is never shown last.
  refresh(): Promise<void> {
    this.reading = this.reading.then(() => this.read()).catch(() => undefined);
    return this.reading;
  }

  private async read(): Promise<void> {
    if (!this.server.running) {
      this.goals = [];
      this.changes.fire();
      return;
    }
    const [{ writer, damaged = [] }, { goals }] = await Promise.all([
      this.server.call("status", {}),
      this.server.call("goal_list", {}),
    ]);
    const [first] = damaged;
    this.health = first ? { ok: false, reason: first.reason } : { ok: writer.ok, reason: writer.reason ?? "" };
    this.goals = await Promise.all(goalsIn(goals, await folders()).map((goal) => this.readGoal(goal)));
    this.changes.fire();
  }

  private async readGoal(goal: Omit<Goal, "todos" | "display">): Promise<Goal> {
    const { goal_id } = goal;
    const [list, status] = await Promise.allSettled([
      this.server.call("todo_list", { goal_id }),
      this.server.call("goal_status", { goal_id }),
    ]);
    // A document that cannot be read has no todos; its problems say why.
    const todos = list.status === "fulfilled" ? ((list.value as { todos?: Todo[] }).todos ?? []) : [];
    const display = status.status === "fulfilled" ? (status.value as { display?: { state?: string } }).display : undefined;
    return { ...goal, todos, display: display?.state ?? "current" };
  }
}

// The daemon knows documents by their paths without links.
async function folders(): Promise<string[]> {
  const paths = (workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
  return Promise.all(paths.map((path) => realpath(path).catch(() => path)));
}
