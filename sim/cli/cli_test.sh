#!/bin/bash
# Runs the program as people do: cli_test.sh [--accept] FOLDER_OF_STEPCAST CASE_FILE...
#
# A case file is read from top to bottom:
#   # what follows shows
#   $ stepcast run missing.json      a command line for sh, in the repository root, with stepcast on
#                                    the path and a folder of the case file's own in $scratch
#                                    (which stands so in its output, too)
#   > a line that stdout must have   (`> ...` stands for any lines)
#   ! a line that stderr must have   (`! ...` too)
#   ? 5                              the exit code, where it is not 0
# --accept writes into the files what differs today, for a person to read before it is committed.
set -eu
cd "$(dirname "$0")/../.."

accept=false
[ "$1" = --accept ] && accept=true && shift
PATH=$(realpath "$1"):$PATH
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0 failed=0

# Runs the command at hand, if any, and compares; what the file should say goes to new.case.
settle()
{
    [ -n "$command" ] || return 0
    local code=0 agrees=true
    sh -c "$command" >"$work/out" 2>"$work/err" </dev/null || code=$?
    # shellcheck disable=SC2016 # stands in the case as it is
    sed -i "s|$scratch|"'$scratch|g' "$work/out" "$work/err"
    count=$((count + 1))
    .ci/match "$work/wanted>" "$work/out" >"$work/difference" || agrees=false
    .ci/match "$work/wanted!" "$work/err" >>"$work/difference" || agrees=false
    [ "$code" -eq "$wanted_code" ] || agrees=false
    if $agrees; then
        cp "$work/wanted>" "$work/out"
        cp "$work/wanted!" "$work/err"
    elif ! $accept; then
        failed=$((failed + 1))
        echo "$file:$command_line: $command"
        cat "$work/difference"
        echo "exit code $code, wanted $wanted_code"
    fi
    {
        sed 's/^/> /; s/^> $/>/' "$work/out"
        sed 's/^/! /; s/^! $/!/' "$work/err"
        [ "$code" -eq 0 ] || echo "? $code"
    } >>"$work/new.case"
    command=
}

read_line()
{
    case $1 in
    '$ '*)
        settle
        command=${1#??} command_line=$line_number wanted_code=0
        : >"$work/wanted>"
        : >"$work/wanted!"
        echo "$1" >>"$work/new.case"
        ;;
    '>' | '!') echo >>"$work/wanted$1" ;;
    '> '* | '! '*) echo "${1#??}" >>"$work/wanted${1%"${1#?}"}" ;;
    '? '*) wanted_code=${1#??} ;;
    '' | '#'*)
        settle
        echo "$1" >>"$work/new.case"
        ;;
    *)
        echo "$file:$line_number: a line begins with one of # \$ > ! ?"
        exit 2
        ;;
    esac
}

for file; do
    export scratch=$work/scratch
    rm -rf "$scratch"
    mkdir "$scratch"
    : >"$work/new.case"
    line_number=0 command=
    while IFS= read -r line; do
        line_number=$((line_number + 1))
        read_line "$line"
    done <"$file"
    settle
    if $accept && ! cmp -s "$work/new.case" "$file"; then
        cp "$work/new.case" "$file"
        echo "$file: now says what the program does; read the difference"
    fi
done
echo "cli: $count commands, $failed failed"
[ "$failed" -eq 0 ]
