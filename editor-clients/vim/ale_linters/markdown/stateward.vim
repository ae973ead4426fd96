" Description: goal documents, by the language server of stateward

call ale#Set('stateward_executable', 'stateward')
" Patterns of the file names of goal documents; whatever is no goal document the server leaves alone.
call ale#Set('stateward_documents', ['ACTIVE_GOAL_STATE.md'])
" The session, and who claims and completes todos: {'session': 's1', 'agent': 'ada'}.
call ale#Set('stateward_options', {})
" Settings of the server, such as {'rules': {'implicit_todo_ids': 'off'}}; a file of the project wins.
call ale#Set('stateward_settings', {})

" The oldest version that has all that this client asks of it.
let s:needs = '0.1.0'
let s:told = {}

function! s:TellOnce(problem) abort
    if !has_key(s:told, a:problem)
        let s:told[a:problem] = 1
        echohl WarningMsg
        echomsg a:problem
        echohl None
    endif
endfunction

function! s:IsGoalDocument(buffer) abort
    let l:name = fnamemodify(bufname(a:buffer), ':t')

    for l:pattern in ale#Var(a:buffer, 'stateward_documents')
        if l:name =~# '^' . glob2regpat(l:pattern)[1:]
            return 1
        endif
    endfor

    return 0
endfunction

function! s:GetExecutable(buffer) abort
    let l:executable = ale#Var(a:buffer, 'stateward_executable')

    if s:IsGoalDocument(a:buffer) && !executable(l:executable)
        call s:TellOnce('stateward: there is no program ' . l:executable
        \   . '; install it, or name it with g:ale_stateward_executable')
    endif

    return l:executable
endfunction

function! s:CheckVersion(version) abort
    if !empty(a:version) && !ale#semver#GTE(a:version, ale#semver#ParseVersion([s:needs]))
        call s:TellOnce('stateward ' . join(a:version, '.') . ' is too old, ' . s:needs
        \   . ' is needed; install it, then run: stateward daemon restart')
    endif

    return ''
endfunction

" The server starts at once, and its version is looked at meanwhile.
function! s:GetCommand(buffer) abort
    call ale#semver#RunWithVersionCheck(
    \   a:buffer,
    \   ale#Var(a:buffer, 'stateward_executable'),
    \   '%e --version',
    \   {_, found -> s:CheckVersion(found)},
    \)

    return '%e lsp'
endfunction

" The nearest folder above with `.git` or `stateward.toml`, or else that of the document. Without a root no server is
" started.
function! s:GetProjectRoot(buffer) abort
    if !s:IsGoalDocument(a:buffer)
        return ''
    endif

    let l:marks = [
    \   ale#path#FindNearestFile(a:buffer, 'stateward.toml'),
    \   ale#path#FindNearestFile(a:buffer, '.git'),
    \   substitute(ale#path#FindNearestDirectory(a:buffer, '.git'), '/$', '', ''),
    \]
    let l:roots = map(filter(l:marks, '!empty(v:val)'), 'fnamemodify(v:val, '':h'')')

    " All of them are above the document, so the longest is the nearest.
    return empty(l:roots) ? fnamemodify(bufname(a:buffer), ':p:h') : sort(l:roots, {one, other -> len(other) - len(one)})[0]
endfunction

" ALE counts columns in bytes, and does not say so.
function! s:GetOptions(buffer) abort
    return {'stateward': extend({'position_encodings': ['utf-8']}, ale#Var(a:buffer, 'stateward_options'))}
endfunction

call ale#linter#Define('markdown', {
\   'name': 'stateward',
\   'lsp': 'stdio',
\   'executable': function('s:GetExecutable'),
\   'command': function('s:GetCommand'),
\   'project_root': function('s:GetProjectRoot'),
\   'language': 'markdown',
\   'initialization_options': function('s:GetOptions'),
\   'lsp_config': {buffer -> {'stateward': ale#Var(buffer, 'stateward_settings')}},
\})
