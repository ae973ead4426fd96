" Sets a Vim with ALE up as the README of the client does.
set nocompatible autoread encoding=utf-8
let g:ale_linters = {'markdown': ['stateward']}
let g:ale_linters_explicit = 1
let g:ale_virtualtext_cursor = 'all'
let g:ale_stateward_executable = $PROGRAM
execute 'set runtimepath^=' . fnameescape($ALE) . ',' . fnameescape($CLIENT)
filetype plugin on
runtime! plugin/ale.vim
