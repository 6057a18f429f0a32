#compdef poise
# SPDX-License-Identifier: BSD-3-Clause
# Completes `poise` in zsh, with descriptions, by asking the program itself, so it is always up to date.

# Prints the entries of a section of the help as "name:description", one per line.
_poise_entries() {
  "$1" "${@:3}" --help 2> /dev/null |
    awk -v section="$2:" '
      function flush(  i) {
        gsub(/:/, "\\:", text)
        for (i = 1; i <= count; ++i) print names[i] ":" text
        count = 0
      }
      $0 == section { on = 1; next }
      /^[^ ]/ { if (on) flush(); on = 0 }
      on && /^  [^ ]/ {
        flush()
        count = split($1, names, ",")
        text = $0
        if (!sub(/^  .*[^ ]  +/, "", text)) text = ""
        next
      }
      on && /^ / { line = $0; sub(/^ +/, "", line); text = text == "" ? line : text " " line }
      END { if (on) flush() }'
}

# Prints the values of an option of a command if the help lists them, as in --numa within|across.
_poise_choices() {
  "$1" "$2" --help 2> /dev/null |
    awk -v option="$3" '/^  -/ { count = split($1, names, ",")
                                 for (i = 1; i <= count; ++i)
                                   if (names[i] == option && index($2, "|")) { gsub(/\|/, "\n", $2); print $2 } }'
}

_poise() {
  local program=$words[1] before=$words[CURRENT-1]
  local -a entries
  if ((CURRENT == 2)); then
    entries=(${(f)"$(_poise_entries $program Subcommands)"})
  elif [[ $words[CURRENT] == -* ]]; then
    entries=(${(f)"$(_poise_entries $program Options $words[2])"})
  elif [[ $before == --strateg* || $before == -s ]]; then
    entries=(${(f)"$($program strategies 2> /dev/null | awk '/^[^ ]/ { print $1 }')"})
  elif [[ $before == --start ]]; then
    entries=(trace round_robin blocked)
  elif [[ $before == -* ]]; then
    entries=(${(f)"$(_poise_choices $program $words[2] $before)"})
  fi
  if (($#entries)); then
    _describe poise entries
  else
    _files
  fi
}

_poise "$@"
