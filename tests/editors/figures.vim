" Run by figures.py in a real Vim with ALE, which says there what it prints.
" Fewer than the bridge takes for a daemon that cannot live.
let s:kills = 3

function! s:Tell(found) abort
    call writefile(['', json_encode(a:found)], '/dev/stdout', 'a')
    qall!
endfunction

function! s:WaitForProblems(count) abort
    for l:try in range(15000)
        if len(ale#engine#GetLoclist(bufnr(''))) == a:count
            return
        endif
        sleep 2m
    endfor
    throw 'no ' . a:count . ' problems'
endfunction

function! s:Measure() abort
    if $FIGURE ==# 'bare'
        execute 'edit' fnameescape($DOCUMENT)
        return s:Tell({})
    endif
    execute 'source' fnameescape(s:show)
    execute 'edit' fnameescape($DOCUMENT)
    call s:WaitForProblems(1)
    if $FIGURE ==# 'start'
        return s:Tell({})
    endif
    messages clear
    let l:back = []
    for l:number in range(1, s:kills)
        let l:daemon = json_decode(system(shellescape($PROGRAM) . ' where --json')).pid
        let l:began = reltime()
        call system('kill -KILL ' . l:daemon)
        call append('$', '- [ ] row ' . l:number)
        doautocmd TextChanged
        call s:WaitForProblems(1 + l:number)
        let l:back += [reltimefloat(reltime(l:began)) * 1000]
    endfor
    call s:Tell({'back_ms': l:back, 'said': trim(execute('messages'))})
endfunction

function! s:Run() abort
    try
        call s:Measure()
    catch
        call writefile([v:exception . ' ' . v:throwpoint], '/dev/stderr', 'a')
        cquit!
    endtry
endfunction

let s:show = fnamemodify(expand('<sfile>'), ':h') . '/show.vim'
set nomore noswapfile shortmess+=F
call timer_start(1, {-> s:Run()})
