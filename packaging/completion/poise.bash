# SPDX-License-Identifier: BSD-3-Clause
# Completes `poise` in bash by asking the program itself, so it is always up to date.

_poise_words() { # the first words of the entries of a section of the help
  "$1" "${@:3}" --help 2> /dev/null |
    awk -v section="$2:" '$0 == section { on = 1; next } /^[^ ]/ { on = 0 }
                          on && /^  [^ ]/ { sub(/^  /, ""); sub(/ .*/, ""); gsub(/,/, "\n"); print }'
}

_poise_choices() { # the values of an option of a command, where the help lists them: --numa within|across
  "$1" "$2" --help 2> /dev/null |
    awk -v option="$3" '/^  -/ { count = split($1, names, ",")
                                 for (i = 1; i <= count; ++i)
                                   if (names[i] == option && index($2, "|")) { gsub(/\|/, "\n", $2); print $2 } }'
}

_poise() {
  local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words=$(_poise_words "$program" Subcommands)
  elif [[ $word == -* ]]; then
    words=$(_poise_words "$program" Options "${COMP_WORDS[1]}")
  elif [[ $before == --strateg* || $before == -s ]]; then
    words=$("$program" strategies 2> /dev/null | awk '/^[^ ]/ { print $1 }')
  elif [[ $before == --start ]]; then
    words="trace round_robin blocked"
  elif [[ $before == -* ]]; then
    words=$(_poise_choices "$program" "${COMP_WORDS[1]}" "$before")
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _poise poise
