# Completion of scalr-agent and scalr-agent-install for bash.

_scalr_agent() {
  local IFS=$' \t\n' options before line
  local -a program=("${1/#\~\//"$HOME"/}")
  COMPREPLY=()
  # An alias is known to this shell alone.
  [[ -n ${BASH_ALIASES[$1]-} ]] && eval "program=(${BASH_ALIASES[$1]})" 2>/dev/null
  {
    IFS= read -r options
    IFS= read -r before
    while IFS= read -r line; do COMPREPLY+=("$line"); done
  } < <("${program[@]}" __complete bash "${COMP_LINE:0:COMP_POINT}" "$2" "${COMP_TYPE-}" "${COLUMNS-}" 2>/dev/null </dev/null)
  [[ -n $options ]] || return 0
  compopt $options 2>/dev/null
  [[ $options != '-o nosort' && -n $before ]] || return 0
  # What bash replaces begins with more than the file, so it has to be searched for here.
  compopt -o filenames
  local what=-f
  [[ $options == '-o dirnames' ]] && what=-d
  while IFS= read -r line; do
    [[ -d $line ]] && line+=/ && compopt -o nospace
    COMPREPLY+=("$before$line")
  done < <(compgen "$what" -- "${2#"$before"}")
}

# Older ones, as macOS has, cannot be told per word whether files fit.
((BASH_VERSINFO[0] < 4)) || complete -F _scalr_agent scalr-agent scalr-agent-install
