// VS Code as a person has it before them, in a browser without a screen.
import { spawn } from "node:child_process";
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { createRequire } from "node:module";

const { chromium } = createRequire(`${process.env.MODULES}/`)("playwright-core");
const PATIENCE_MS = 60_000;
const KEY_PATIENCE_MS = 3_000;
// So that nothing but the extension draws, asks or fetches.
const SETTINGS = {
  "security.workspace.trust.enabled": false,
  "workbench.startupEditor": "none",
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "chat.disableAIFeatures": true,
  "chat.commandCenter.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.tips.enabled": false,
  "git.enabled": false,
  "files.autoSave": "off",
  "editor.inlayHints.enabled": "on",
  "editor.codeLens": true,
  "editor.wordWrap": "off",
  "editor.minimap.enabled": false,
  "workbench.colorTheme": "Default Light Modern",
};

export async function until(what, look, patience = PATIENCE_MS) {
  for (const end = Date.now() + patience; ; ) {
    const found = await look();
    if (found) {
      return found;
    }
    if (Date.now() > end) {
      throw new Error(`timed out waiting for ${what}`);
    }
    await sleep(20);
  }
}

// code-server with some extensions and nothing else, and a browser at it.
export class Desk {
  static async open(folder, extensions, machine) {
    const desk = new Desk();
    desk.folder = folder;
    desk.tells = `${folder}/tells.json`;
    mkdirSync(`${folder}/user/User`, { recursive: true });
    mkdirSync(`${folder}/user/Machine`, { recursive: true });
    writeFileSync(`${folder}/user/User/settings.json`, JSON.stringify(SETTINGS));
    desk.configure(machine);
    const places = ["--user-data-dir", `${folder}/user`, "--extensions-dir", `${folder}/extensions`];
    const env = { ...process.env, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, DRIVER_TELLS: desk.tells };
    const run = (...options) => spawn(process.execPath, [process.env.CODE_SERVER, ...places, ...options], { env, detached: true });
    for (const extension of extensions) {
      const installing = run("--install-extension", extension);
      let said = "";
      for (const stream of [installing.stdout, installing.stderr]) {
        stream.on("data", (text) => (said += text));
      }
      const status = await new Promise((done) => installing.on("close", done));
      if (status || !said.includes("successfully installed")) {
        throw new Error(`${extension} was not installed: ${said}`);
      }
    }
    const quiet = ["telemetry", "update-check", "workspace-trust", "getting-started-override", "proxy"].map((name) => `--disable-${name}`);
    desk.server = run("--auth", "none", "--bind-addr", "127.0.0.1:0", ...quiet);
    desk.server.stderr.pipe(createWriteStream(`${folder}/server.err`));
    for await (const line of createInterface({ input: desk.server.stdout })) {
      const found = line.match(/HTTP server listening on (\S+?)\/?$/);
      if (found) {
        desk.address = found[1];
        break;
      }
    }
    desk.server.stdout.resume();
    desk.browser = await chromium.launchPersistentContext(`${folder}/browser`, {
      executablePath: process.env.CHROMIUM,
      headless: true,
      viewport: { width: 1400, height: 1000 },
      env: { ...process.env, LD_LIBRARY_PATH: process.env.LIBRARIES, FONTCONFIG_FILE: process.env.FONTS },
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
    });
    desk.browser.setDefaultTimeout(PATIENCE_MS);
    // Nothing but this machine.
    await desk.browser.route((url) => url.protocol.startsWith("http") && url.hostname !== "127.0.0.1", (route) => route.abort());
    [desk.page] = desk.browser.pages();
    return desk;
  }

  // The settings of the machine, where a window of a server takes those from that name programs.
  configure(machine) {
    writeFileSync(`${this.folder}/user/Machine/settings.json`, JSON.stringify(machine));
  }

  async close() {
    await this.browser?.close();
    try {
      process.kill(-this.server.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }

  // What VS Code knows, as the driver tells.
  told() {
    try {
      return JSON.parse(readFileSync(this.tells, "utf8"));
    } catch {
      return { problems: {}, documents: {} };
    }
  }

  problems(path) {
    return this.told().problems[path] ?? [];
  }

  async show(query) {
    await this.page.goto(`${this.address}/?${query}`, { waitUntil: "commit" });
  }

  async openFile(name, words) {
    const input = this.page.locator(".quick-input-widget input").first();
    await this.press("Control+p", input);
    await input.fill(name);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: words ?? name }).first().click();
  }

  async run(command) {
    const input = this.page.locator(".quick-input-widget input").first();
    await this.press("F1", input);
    await input.fill(`>${command}`);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: command }).first().click();
  }

  // Presses keys until something is there: what has just been clicked may not have the focus yet.
  async press(keys, locator) {
    await until(`what ${keys} shows`, async () => {
      await this.page.keyboard.press(keys);
      return locator.waitFor({ timeout: KEY_PATIENCE_MS }).then(() => true, () => false);
    });
  }

  row(view, words) {
    return this.page.locator(`${view} .monaco-list-row`, { hasText: words }).first();
  }

  toasts() {
    return this.page.locator(".notification-toast").allInnerTexts();
  }

  async shot(name) {
    // What moves or fades is at rest.
    await sleep(400);
    await this.page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
  }
}
