// Run by vscode_work.py in a real VS Code: works as a person does, and prints what held as one line of JSON.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { call } from "./agent.mjs";
import { Desk, until } from "./desk.mjs";

const { DRIVER, FOLDER, VSIX, WORK, SOCKET } = process.env;
const RUNS = 5;
const DOCUMENT = `${FOLDER}/ACTIVE_GOAL_STATE.md`;
const SERVER = JSON.parse(process.env.SERVER);
// Of the document, and by path of those elsewhere: the problems with their ranges in UTF-16, as the command line finds them.
const EXPECTED = JSON.parse(process.env.EXPECTED);
const ELSEWHERE = JSON.parse(process.env.ELSEWHERE);
const LINES = ".monaco-editor .view-lines";
const STATE = ".pane[aria-label*='State'], .split-view-view:has(.pane-header[aria-label^='State'])";
const told = { editor: "VS Code", passed: [], figures: {} };

let now = "start";
async function check(name, body) {
  now = name;
  await body();
  told.passed.push(name);
}

function same(found, expected) {
  if (!isDeepStrictEqual(found, expected)) {
    throw new Error(`found ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
  }
}

function median(numbers) {
  return numbers.sort((one, other) => one - other)[Math.floor(numbers.length / 2)];
}

const agent = (method, params) => call(SOCKET, FOLDER, method, params);

async function daemonPid() {
  return (await agent("status", {})).pid;
}

// Kills the daemon and returns when.
async function kill() {
  process.kill(await daemonPid(), "SIGKILL");
  return Date.now();
}

const ranges = (found) => found.map(({ code, range }) => ({ code, range })).sort((one, other) => one.range[0] - other.range[0]);
const settled = (desk, path, expected) =>
  until(`the problems of ${path}, not ${JSON.stringify(desk.problems(path))}`, () => isDeepStrictEqual(ranges(desk.problems(path)), expected));

async function typeRow(desk, row) {
  const { page } = desk;
  await page.locator(LINES).first().click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText(row);
}

async function work(desk) {
  const { page } = desk;
  const expected = EXPECTED;
  await desk.show(`folder=${encodeURIComponent(FOLDER)}`);
  await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "ACTIVE_GOAL_STATE.md" }).dblclick();

  await check("problems are underlined where they are", async () => {
    await page.waitForSelector(".squiggly-warning");
    await settled(desk, DOCUMENT, expected);
    told.editor = `VS Code ${desk.told().version}`;
  });

  // Before the focus goes elsewhere: VS Code asks for none of an editor that has lost it.
  await check("a lens says what can be done", async () => {
    await page.locator(".codelens-decoration", { hasText: "Claim" }).first().waitFor();
  });

  await check("problems are listed", async () => {
    await page.keyboard.press("Control+Shift+M");
    await desk.row(".markers-panel", "this row has no id of its own").waitFor();
  });

  await check("a hint is drawn beside a reference", async () => {
    await page.locator(".view-lines").getByText("object 2").first().waitFor();
    await desk.shot("1-problems-lens-hint");
  });

  await check("hover tells about the row and what is wrong there", async () => {
    await page.locator(".view-line", { hasText: "port list" }).first().hover({ position: { x: 60, y: 8 } });
    await page.locator(".monaco-hover:not(.hidden)", { hasText: "status: open" }).first().waitFor();
    await desk.shot("2-hover");
    await page.keyboard.press("Escape");
  });

  await check("a quick fix is applied, and its problem goes", async () => {
    await desk.row(".markers-panel", "this row has no id of its own").dblclick();
    await desk.press("Control+.", page.locator(".action-widget", { hasText: "Give the row its id" }).first());
    await desk.shot("3-quick-fix");
    await page.keyboard.press("Enter");
    await until("the problem to go", () => !desk.problems(DOCUMENT).some(({ code }) => code === "implicit_todo_ids"));
    await page.keyboard.press("Control+s");
    await until("the file to be written", () => /port list\n {2}<!-- loopx:todo todo_id=todo_/.test(readFileSync(DOCUMENT, "utf8")));
    await desk.shot("4-fixed");
  });

  await check("the status bar counts what is open", async () => {
    await page.locator(".statusbar-item", { hasText: "3 open" }).first().waitFor();
  });

  await check("the state is browsed two levels deep, and a value is shown where it is opened", async () => {
    await page.locator(".activitybar .action-item a[aria-label='stateward']").click();
    await desk.row(STATE, "cwd").click();
    await desk.row(STATE, "lazy").click();
    await desk.row(STATE, "plan").waitFor();
    await desk.row(STATE, "memory").waitFor();
    const seen = await page.locator(STATE).first().innerText();
    if (seen.includes("port list first")) {
      throw new Error(`a value is shown unasked: ${seen}`);
    }
    await desk.shot("5-state");
    await desk.row(STATE, "goal").click();
    const uri = "stateward:/cwd/lazy/goal.json";
    await until("the value", () => desk.told().documents[uri]?.text.includes("port list first"));
    await desk.shot("6-value");
    await agent("patch_state", { patch: { cwd: { lazy: { goal: "port list last" } } } });
    await until("the value to follow", () => desk.told().documents[uri].text.includes("port list last"));
  });

  await check("the state follows what an agent does", async () => {
    await agent("patch_state", { patch: { cwd: { lazy: { arrived: true } } } });
    await desk.row(STATE, "arrived").waitFor();
  });

  await check("a todo is claimed from its view, and an agent sees it", async () => {
    const row = desk.row(".pane-body", "Rehearse the rollback");
    await row.hover();
    await desk.shot("7-todos");
    await row.locator("a[aria-label*='Claim']").click();
    await desk.row(".pane-body", "claimed by").waitFor();
    const { todos } = await agent("todo_list", { goal_id: "release", todo_id: "todo_rehearse" });
    same(todos.map(({ claimed_by }) => claimed_by), ["tester"]);
    await row.hover();
    await row.locator("a[aria-label*='Show Receipt']").click();
    await page.locator(".notification-toast", { hasText: "was accepted at" }).first().waitFor();
    await desk.shot("8-claimed-receipt");
    await desk.run("Notifications: Clear All Notifications");
  });

  await check("the view follows what an agent does", async () => {
    await agent("todo_add", { goal_id: "release", operation_id: "one", role: "user", text: "Pick the window" });
    await desk.row(".pane-body", "Pick the window").waitFor();
    await page.locator(".statusbar-item", { hasText: "4 open" }).first().waitFor();
  });

  await check("a todo is completed from its view, and an agent sees it", async () => {
    const row = desk.row(".pane-body", "Pick the window");
    await row.hover();
    await row.locator("a[aria-label*='Complete']").click();
    await desk.row(".pane-body", "3 of 4 open").waitFor();
    const { todos } = await agent("todo_list", { goal_id: "release", status: "done" });
    same(todos.map(({ text }) => text.replace(/^\[P1\] /, "")), ["Pick the window"]);
  });

  await check("a killed daemon is replaced without a message", async () => {
    await desk.openFile("ACTIVE_GOAL_STATE.md");
    await page.locator(".view-line", { hasText: "port list" }).first().waitFor();
    const before = desk.problems(DOCUMENT).length;
    const killed = await kill();
    await typeRow(desk, "\n## User Todo\n\n- [ ] one more\n");
    await until("the problems of what was typed", () => desk.problems(DOCUMENT).length > before);
    told.figures["killed to diagnostics ms"] = Date.now() - killed;
    same(await desk.toasts(), []);
    await desk.shot("9-after-kill");
  });

  await check("the views go on after that", async () => {
    await agent("patch_state", { patch: { cwd: { lazy: { afterwards: true } } } });
    await desk.row(STATE, "afterwards").waitFor();
  });

  await check("the restart command works after the daemon was killed", async () => {
    await page.keyboard.press("Control+z");
    const before = desk.problems(DOCUMENT).length;
    const killed = await kill();
    await desk.run("stateward: Restart Server");
    await typeRow(desk, "\n## User Todo\n\n- [ ] and one\n");
    await until("the problems of what was typed", () => desk.problems(DOCUMENT).length > before);
    told.figures["killed to restarted by command ms"] = Date.now() - killed;
    await desk.row(STATE, "afterwards").waitFor();
    same(await desk.toasts(), []);
    await page.keyboard.press("Control+z");
    await page.keyboard.press("Control+s");
  });
}

async function workElsewhere(desk) {
  const { page } = desk;
  await check("ranges are right in each folder: Chinese and spaces, CRLF, behind a link", async () => {
    await desk.show(`workspace=${encodeURIComponent(process.env.WORKSPACE)}`);
    for (const path of Object.keys(ELSEWHERE)) {
      await settled(desk, path, ELSEWHERE[path]);
    }
    same(Object.keys(desk.told().problems).filter((path) => desk.problems(path).length).sort(), Object.keys(ELSEWHERE).sort());
  });
  const folders = page.locator(".explorer-folders-view .monaco-list-row[aria-level='1']");
  const files = page.locator(".explorer-folders-view .monaco-list-row", { hasText: "ACTIVE_GOAL_STATE.md" });
  for (const [at, path] of Object.keys(ELSEWHERE).entries()) {
    await check(`the same with the document open: ${path.split("/").at(-2)}`, async () => {
      if ((await folders.nth(at).getAttribute("aria-expanded")) === "false") {
        await folders.nth(at).click();
      }
      await files.nth(at).dblclick();
      await until("the document", () => desk.told().documents[`file://${path}`]);
      await settled(desk, path, ELSEWHERE[path]);
    });
  }
  await page.keyboard.press("Control+Shift+M");
  await desk.shot("10-folders");
}

async function workWithout(desk) {
  const { page } = desk;
  await check("a missing program is told in one line, with the remedy", async () => {
    desk.configure({ "stateward.server.command": ["/nowhere/stateward", "lsp"] });
    await page.locator(".notification-toast", { hasText: 'The program "/nowhere/stateward" was not found' }).waitFor();
    await desk.shot("11-missing");
    same((await desk.toasts()).length, 1);
    await desk.run("Notifications: Clear All Notifications");
  });
  await check("one that is too old is told in one line, with the remedy", async () => {
    desk.configure({ "stateward.server.command": [SERVER[0], process.env.OLD_SERVER] });
    await page.locator(".notification-toast", { hasText: "stateward 0.0.9 is too old" }).waitFor();
    await desk.shot("12-too-old");
    same((await desk.toasts()).length, 1);
    await desk.run("Notifications: Clear All Notifications");
  });
  await check("one that serves nothing is told in one line, with its own last word", async () => {
    desk.configure({ "stateward.server.command": [SERVER[0], "-c", "raise SystemExit('no such verb: lsp')"] });
    await page.locator(".notification-toast", { hasText: "no such verb: lsp" }).waitFor();
    same((await desk.toasts()).length, 1);
    await desk.run("Notifications: Clear All Notifications");
  });
  await check("once it is there all is well", async () => {
    desk.configure({ "stateward.server.command": SERVER, "stateward.agent": "tester" });
    await page.locator(".statusbar-item", { hasText: "open" }).first().waitFor();
    same(await desk.toasts(), []);
  });
}

// From asking for the page to the text, and to the first squiggle where the extension is there.
async function starts(desk, selector) {
  const query = `folder=${encodeURIComponent(FOLDER)}`;
  await desk.show(query);
  await desk.page.locator(".explorer-folders-view .monaco-list-row", { hasText: "ACTIVE_GOAL_STATE.md" }).dblclick();
  await desk.page.waitForSelector(selector);
  const took = [];
  for (let run = 0; run < RUNS; run++) {
    await desk.page.goto("about:blank");
    const began = Date.now();
    await desk.show(query);
    await desk.page.waitForSelector(selector);
    took.push(Date.now() - began);
  }
  return median(took);
}

const desks = [];
try {
  const machine = { "stateward.server.command": SERVER, "stateward.agent": "tester" };
  const bare = await Desk.open(`${WORK}/bare`, [], {});
  desks.push(bare);
  told.figures["start to text, bare ms"] = await starts(bare, `${LINES} .view-line:has-text("port list")`);
  await bare.close();
  const desk = await Desk.open(`${WORK}/desk`, [DRIVER, VSIX], machine);
  desks.push(desk);
  told.figures["start to first diagnostic ms"] = await starts(desk, ".squiggly-warning");
  await work(desk);
  await workWithout(desk);
  await workElsewhere(desk);
} catch (error) {
  told.failed = `${now}: ${error.stack}`;
  await desks.at(-1)?.page?.screenshot({ path: `${process.env.SHOTS}/failed.png` }).catch(() => undefined);
} finally {
  await Promise.allSettled(desks.map((desk) => desk.close()));
}
console.log(JSON.stringify(told));
