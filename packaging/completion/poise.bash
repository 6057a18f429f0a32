# Completes `poise` in bash by asking the program itself, so it is always up to date.

_poise_words() { # the first words of the entries of a section of the help
  "$1" "${@:3}" --help 2> /dev/null |
    awk -v section="$2:" '$0 == section { on = 1; next } /^[^ ]/ { on = 0 }
                          on && /^  [^ ]/ { sub(/^  /, ""); sub(/ .*/, ""); gsub(/,/, "\n"); print }'
}

_poise() {
  local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$(_poise_words "$program" Subcommands)" -- "$word")
  elif [[ $before == --strateg* || $before == -s ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" strategies 2> /dev/null | awk '/^[^ ]/ { print $1 }')" -- "$word")
  elif [[ $before == --start ]]; then
    mapfile -t COMPREPLY < <(compgen -W "trace round_robin blocked" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_poise_words "$program" Options "${COMP_WORDS[1]}")" -- "$word")
  fi
}
complete -o default -F _poise poise
