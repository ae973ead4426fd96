" Run by real_editors.py in a real Vim with ALE: works as a person does, and prints what held as one line of JSON.
"
" $FOLDER and the documents in it are those of neovim.lua.
let s:told = {'editor': printf('Vim %d.%d, ALE', v:version / 100, v:version % 100), 'passed': []}
let s:row = str2nr($ROW)
let s:now = 'start'

function! s:Check(name, Body) abort
    let s:now = a:name
    call a:Body()
    let s:told.passed += [a:name]
endfunction

function! s:WaitFor(what, Condition) abort
    for l:try in range(4500)
        if a:Condition()
            return
        endif
        sleep 20m
    endfor
    throw 'timed out waiting for ' . a:what
endfunction

function! s:Same(found, expected) abort
    if a:found !=# a:expected
        throw printf('found %s, not %s', string(a:found), string(a:expected))
    endif
endfunction

function! s:Found() abort
    return ale#engine#GetLoclist(bufnr(''))
endfunction

function! s:Codes() abort
    return map(copy(s:Found()), {_, found -> get(found, 'code', '')})
endfunction

function! s:WaitForCodes(...) abort
    let l:expected = a:000
    call s:WaitFor('the problems ' . string(l:expected), {-> s:Codes() ==# l:expected})
endfunction

function! s:Text() abort
    return join(getline(1, '$'), "\n")
endfunction

function! s:Has(words) abort
    return stridx(s:Text(), a:words) >= 0
endfunction

" What was said to the person.
function! s:Said(words) abort
    return stridx(execute('messages'), a:words) >= 0
endfunction

" The number of an action in the menu that ALE asks with, as a person would type it.
function! s:Choose(title) abort
    call s:WaitFor('ALE', {-> exists('*ale#util#Input')})
    let s:title = a:title
    function! ale#util#Input(menu, value) abort
        let s:menu = a:menu
        return matchstr(a:menu, '\d\+\ze) ' . s:title)
    endfunction
    ALECodeAction
endfunction

function! s:ProblemsAreShown() abort
    call s:WaitForCodes('implicit_todo_ids')
    let s:told.first_diagnostic_ms = float2nr(reltimefloat(reltime(s:began)) * 1000)
    let l:found = s:Found()[0]
    let l:marked = [l:found.lnum, l:found.col, l:found.end_lnum, l:found.end_col, l:found.linter_name]
    call s:Same(l:marked, [s:row + 1, 1, s:row + 1, str2nr($ROW_BYTES), 'stateward'])
endfunction

function! s:AnotherIsLeftAlone() abort
    call s:Same(getbufvar(s:another, '&filetype'), 'markdown')
    call s:Same(ale#engine#GetLoclist(s:another), [])
    let l:connections = values(ale#lsp#GetConnections())
    call s:Same(len(l:connections), 1)
    call s:Same(has_key(l:connections[0].open_documents, s:another), 0)
endfunction

function! s:HoverTells() abort
    call cursor(s:row + 1, 7)
    ALEHover
    call s:WaitFor('the hover', {-> bufwinnr('ALEPreviewWindow') > 0})
    let l:hover = join(getbufline('ALEPreviewWindow', 1, '$'), "\n")
    pclose
    if l:hover !~# 'status: open' || l:hover !~# 'todo_'
        throw l:hover
    endif
endfunction

function! s:WhatIsTypedIsTold() abort
    call append(s:row + 1, '  <!-- loopx:todo todo_id=todo_typed -->')
    doautocmd TextChanged
    call s:WaitForCodes()
    execute (s:row + 2) . 'delete'
    doautocmd TextChanged
    call s:WaitForCodes('implicit_todo_ids')
endfunction

function! s:QuickFixIsApplied() abort
    call cursor(s:row + 1, 7)
    call s:Choose('Give the row')
    call s:WaitFor('the edit', {-> s:Text() =~# 'todo_id=todo_\x\+'})
    silent write
    call s:WaitForCodes()
endfunction

function! s:TodoIsClaimed() abort
    call cursor(s:row + 1, 7)
    call s:Choose('Claim')
    call s:WaitFor('the file', {-> join(readfile(expand('%')), "\n") =~# 'claimed_by='})
    silent checktime
    call s:Same(s:Has('claimed_by='), 1)
endfunction

function! s:OthersAreTold() abort
    let l:lines = getline(1, '$')
    call insert(l:lines, '- [ ] one more', s:row)
    call writefile(l:lines, expand('%') . '.new')
    call rename(expand('%') . '.new', expand('%'))
    call s:WaitForCodes('implicit_todo_ids')
    silent checktime
    call s:Same(s:Has('one more'), 1)
endfunction

function! s:DaemonIsReplaced() abort
    let l:before = s:Codes()
    let l:connection = keys(ale#lsp#GetConnections())
    call system('kill -KILL ' . $DAEMON_PID)
    " The new daemon knows the text as it was typed.
    call append(s:row, '- [ ] two more')
    doautocmd TextChanged
    call s:WaitFor('its problem', {-> len(s:Codes()) == len(l:before) + 1})
    call s:Same(keys(ale#lsp#GetConnections()), l:connection)
endfunction

function! s:CrlfIsMended() abort
    silent write
    execute 'edit' fnameescape($CRLF)
    call s:WaitForCodes('implicit_todo_ids')
    call s:Same(&fileformat, 'dos')
    call cursor(s:row + 1, 7)
    call s:Choose('Give the row')
    call s:WaitFor('the edit', {-> s:Text() =~# 'todo_id=todo_\x\+'})
    call s:Same(stridx(s:Text(), "\r"), -1)
    silent write
    call s:Same(filter(readfile(expand('%'), 'b'), {_, line -> line !=# '' && line !~# '\r$'}), [])
endfunction

function! s:MissingIsTold() abort
    ALEStopAllLSPs
    let g:ale_stateward_executable = 'no-such-stateward'
    execute 'edit' fnameescape($FOLDER . '/ACTIVE_GOAL_STATE.md')
    ALELint
    call s:WaitFor('the line', {-> s:Said('stateward: there is no program no-such-stateward; install it')})
endfunction

function! s:TooOldIsTold() abort
    let g:ale_stateward_executable = $FOLDER . '/old-stateward'
    let l:serves = '[ "$1" = lsp ] && exec cat >/dev/null'
    call writefile(['#!/bin/sh', l:serves, 'echo stateward 0.0.9'], g:ale_stateward_executable)
    call setfperm(g:ale_stateward_executable, 'rwx------')
    ALELint
    call s:WaitFor('the line', {-> s:Said('stateward 0.0.9 is too old, 0.1.0 is needed; install it, then run')})
endfunction

function! s:Work() abort
    execute 'edit' fnameescape($FOLDER . '/README.md')
    let s:another = bufnr('')
    let s:began = reltime()
    execute 'edit' fnameescape($FOLDER . '/ACTIVE_GOAL_STATE.md')
    call s:Check('problems are shown where they are', function('s:ProblemsAreShown'))
    call s:Check('another Markdown file is left alone', function('s:AnotherIsLeftAlone'))
    call s:Check('hover tells about the row and what is wrong there', function('s:HoverTells'))
    call s:Check('what is typed is told before it is saved', function('s:WhatIsTypedIsTold'))
    call s:Check('a quick fix is applied, and its problem goes', function('s:QuickFixIsApplied'))
    call s:Check('a todo is claimed by command, and what that wrote is shown', function('s:TodoIsClaimed'))
    call s:Check('what somebody else saves is told without a touch', function('s:OthersAreTold'))
    call s:Check('a killed daemon is replaced, and nobody has to do anything', function('s:DaemonIsReplaced'))
    call s:Check('a document with CRLF is told and mended with CRLF', function('s:CrlfIsMended'))
    call s:Check('a program that is missing is told in one line', function('s:MissingIsTold'))
    call s:Check('a program that is too old is told in one line', function('s:TooOldIsTold'))
endfunction

function! s:Run() abort
    try
        call s:Work()
    catch
        let s:told.failed = printf('%s: %s @ %s: %s', s:now, v:exception, v:throwpoint, s:Text())
    endtry
    call writefile(['', json_encode(s:told)], '/dev/stdout', 'a')
    execute has_key(s:told, 'failed') ? 'cquit!' : 'qall!'
endfunction

execute 'source' fnameescape(fnamemodify(expand('<sfile>'), ':h') . '/show.vim')
set nomore noswapfile
let g:ale_hover_to_preview = 1
call timer_start(1, {-> s:Run()})
