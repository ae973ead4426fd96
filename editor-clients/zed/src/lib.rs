//! Runs `stateward lsp` for Markdown in Zed: the program of the settings, or that on the `PATH` of the worktree.

use zed_extension_api::{
    self as zed,
    serde_json::{json, Value},
    settings::LspSettings,
    Command, LanguageServerId, Result, Worktree,
};

struct Stateward;

impl zed::Extension for Stateward {
    fn new() -> Self {
        Stateward
    }

    fn language_server_command(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Command> {
        let binary = LspSettings::for_worktree(server.as_ref(), worktree)
            .ok()
            .and_then(|said| said.binary);
        let (path, arguments) =
            binary.map_or((None, None), |binary| (binary.path, binary.arguments));
        let command = path.or_else(|| worktree.which("stateward")).ok_or_else(|| {
            "there is no program stateward on the PATH; install it, or name it with lsp.stateward.binary.path".to_string()
        })?;
        Ok(Command {
            command,
            args: arguments.unwrap_or_else(|| vec!["lsp".to_string()]),
            env: worktree.shell_env(),
        })
    }

    fn language_server_initialization_options(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<Value>> {
        Ok(LspSettings::for_worktree(server.as_ref(), worktree)?.initialization_options)
    }

    fn language_server_workspace_configuration(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<Value>> {
        // The server asks for the section of its name.
        let settings = LspSettings::for_worktree(server.as_ref(), worktree)?.settings;
        Ok(settings.map(|said| json!({ "stateward": said })))
    }
}

zed::register_extension!(Stateward);
