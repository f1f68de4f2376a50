# Completion of scalr-agent and scalr-agent-install for fish.

function __scalr_agent
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    # Behind env or sudo nothing else may be run.
    string match -qr '(^|/)scalr-agent(-install)?$' -- $program; or set program scalr-agent
    set -e words[1]
    set -l lines ($program __complete fish $words "$current" 2>/dev/null </dev/null)
    set -l what $lines[1]
    # What stands before the value in --flag=value.
    set -l before $lines[2]
    set -e lines[1..2]
    set -l value (string sub -s (math (string length -- "$before") + 1) -- "$current")
    switch "$what"
        case files
            printf '%s\n' $before(__fish_complete_path "$value")
        case directories
            printf '%s\n' $before(__fish_complete_directories "$value")
        case values
            printf '%s\n' $before$lines
    end
end

for program in scalr-agent scalr-agent-install
    complete -c $program -e
    complete -c $program -k -f -a '(__scalr_agent)'
end
