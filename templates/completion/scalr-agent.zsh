#compdef scalr-agent scalr-agent-install
# Completion of scalr-agent and scalr-agent-install for zsh.

_scalr_agent() {
  local line value
  local -a lines values
  lines=("${(@f)$(${(Q)~words[1]} __complete zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}")
  # Of --flag=value only the value is completed.
  [[ -n ${lines[2]} ]] && compset -P "${(b)lines[2]}"
  case ${lines[1]} in
    files) _files ;;
    directories) _files -/ ;;
    values)
      for line in "${(@)lines[3,-1]}"; do
        value=${${${line%%$'\t'*}//\\/\\\\}//:/\\:}
        values+=("$value${${line#*$'\t'}:+:${line#*$'\t'}}")
      done
      _describe -V -t values 'scalr-agent' values
      ;;
  esac
}

if [[ ${funcstack[1]-} == _scalr[-_]agent ]]; then
  _scalr_agent "$@"
else
  (($+functions[compdef])) || { autoload -Uz compinit && compinit; }
  compdef _scalr_agent scalr-agent scalr-agent-install
fi
