// The connection to the daemon: through `stateward lsp`, or straight to its socket.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { commands, type Disposable, EventEmitter, type LogOutputChannel, window, workspace } from "vscode";
import {
  CloseAction,
  type ErrorHandler,
  LanguageClient,
  type LanguageClientOptions,
  type StreamInfo,
} from "vscode-languageclient/node";
import type { Methods } from "./protocol";
import { endedAtOnce, isTooOld, notThere, tooOld } from "./versions";

const DOCUMENT = "**/ACTIVE_GOAL_STATE.md";
// The settings that the server knows; the others are ours, and it would complain of them.
const SERVER_SETTINGS = ["rules", "code_lens", "inlay_hints"];
const STOP_PATIENCE_MS = 2000;
const CONNECT_TRIES = 50;
const CONNECT_INTERVAL_MS = 200;
// The bridge says so when another daemon has taken over: what was subscribed is not, and anything may have changed.
const RESTARTED = "$/stateward/restarted";
const RESTART = "Restart Server";

export type Change = "state" | "todos" | "all";

// What goes wrong is told by `Server`, in one line; the stock client would add lines of its own.
class Client extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

export class Server implements Disposable {
  private client: Client | undefined;
  // What the program said last where nobody reads it, to tell why it ended.
  private said = "";
  private readonly changes = new EventEmitter<Change>();
  readonly onChange = this.changes.event;

  constructor(
    private readonly version: string,
    private readonly output: LogOutputChannel,
  ) {}

  get running(): boolean {
    return this.client?.isRunning() ?? false;
  }

  // Calls a method of the daemon over the connection of the language server.
  async call<M extends keyof Methods>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]> {
    if (!this.client?.isRunning()) {
      throw new Error("the server does not run");
    }
    return this.client.sendRequest(method, params);
  }

  async restart(): Promise<void> {
    await this.dispose();
    await this.start();
  }

  async dispose(): Promise<void> {
    const old = this.client;
    this.client = undefined;
    // It throws where the connection is lost, and that must not keep a new one from starting.
    await old?.dispose(STOP_PATIENCE_MS).catch((error: unknown) => this.output.info(`stopping: ${error}`));
  }

  async start(): Promise<void> {
    this.said = "";
    const [program = ""] = command();
    try {
      // Before the client: it could not say what was not found.
      const first = await this.open();
      const client = this.make(first);
      this.client = client;
      await client.start();
      const { version } = client.initializeResult?.serverInfo ?? {};
      if (isTooOld(version, this.version)) {
        await this.dispose();
        this.tell(tooOld(version, this.version));
      } else {
        await this.listen(client);
      }
    } catch (error) {
      this.client = undefined;
      const missing = (error as NodeJS.ErrnoException).code === "ENOENT" && !socket();
      this.tell(missing ? notThere(program) : endedAtOnce(command(), this.said || `${(error as Error).message}`));
    }
    await commands.executeCommand("setContext", "stateward.running", this.running);
    this.changes.fire("all");
  }

  // -- inside --

  private make(first: ChildProcess | StreamInfo): Client {
    let opened: ChildProcess | StreamInfo | undefined = first;
    const open = async (): Promise<ChildProcess | StreamInfo> => {
      const next = opened ?? (await this.open());
      opened = undefined;
      return next;
    };
    const options: LanguageClientOptions = {
      documentSelector: [
        { scheme: "file", pattern: DOCUMENT },
        ...settings().get<string[]>("documents", []).map((pattern) => ({ scheme: "file", pattern })),
        // References in values are followed like those in documents.
        { scheme: "stateward" },
      ],
      outputChannel: this.output,
      initializationOptions: { stateward: whoWeAre() },
      initializationFailedHandler: () => false,
      errorHandler: this.errorHandler(() => client),
      middleware: {
        workspace: {
          configuration: async (params, token, next) => {
            const found = await next(params, token);
            return Array.isArray(found) ? found.map(known) : found;
          },
        },
      },
    };
    const client = new Client("stateward", "stateward", open, options);
    return client;
  }

  private errorHandler(client: () => Client): ErrorHandler {
    let stock: ErrorHandler | undefined;
    return {
      error: (error, message, count) => (stock ??= client().createDefaultErrorHandler()).error(error, message, count),
      closed: async () => {
        if (client() !== this.client || !client().initializeResult) {
          // It never served; `start` tells why.
          return { action: CloseAction.DoNotRestart, handled: true };
        }
        const result = await (stock ??= client().createDefaultErrorHandler()).closed();
        if (result.action === CloseAction.DoNotRestart) {
          this.tell(`The server was lost again and again${this.said ? `: ${this.said.trim().split("\n").at(-1)}` : ""}.`);
          await commands.executeCommand("setContext", "stateward.running", false);
        }
        return { ...result, handled: true };
      },
    };
  }

  // Is told from now on of what changes in the daemon.
  private async listen(client: Client): Promise<void> {
    const subscribe = () => client.sendRequest("subscribe", { topics: ["state", "todos"] });
    client.onNotification("state_changed", () => this.changes.fire("state"));
    client.onNotification("todos_changed", () => this.changes.fire("todos"));
    client.onNotification(RESTARTED, async () => {
      await subscribe();
      this.changes.fire("all");
    });
    await subscribe();
  }

  private open(): Promise<ChildProcess | StreamInfo> {
    const path = socket();
    return path ? dial(path) : this.launch();
  }

  private async launch(): Promise<ChildProcess> {
    const [program = "", ...rest] = command();
    const child = spawn(program, rest, { cwd: workspace.workspaceFolders?.find(isFile)?.uri.fsPath });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.said = (this.said + text).slice(-2000);
    });
    await once(child, "spawn");
    return child;
  }

  private tell(message: string): void {
    this.output.error(message);
    void window.showErrorMessage(message, RESTART).then((answer) => answer && this.restart());
  }
}

function settings() {
  return workspace.getConfiguration("stateward");
}

function command(): string[] {
  return settings().get<string[]>("server.command", ["stateward", "lsp"]);
}

function socket(): string {
  return settings().get<string>("server.socket", "");
}

function whoWeAre(): Record<string, string> {
  const said = ["agent", "session"].map((name) => [name, settings().get<string>(name, "")] as const);
  return Object.fromEntries(said.filter(([, value]) => value));
}

function known(section: unknown): unknown {
  return section && typeof section === "object"
    ? Object.fromEntries(Object.entries(section).filter(([name]) => SERVER_SETTINGS.includes(name)))
    : section;
}

function isFile({ uri }: { uri: { scheme: string } }): boolean {
  return uri.scheme === "file";
}

// A daemon that was killed takes a moment to come back, and who connects to its socket does not start it.
async function dial(path: string): Promise<StreamInfo> {
  for (let tries = 1; ; tries++) {
    const stream = connect(path);
    try {
      await once(stream, "connect");
      return { reader: stream, writer: stream };
    } catch (error) {
      if (tries === CONNECT_TRIES) {
        throw error;
      }
    }
    await sleep(CONNECT_INTERVAL_MS);
  }
}
