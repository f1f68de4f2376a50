# Runs every line of its input as a command. When the input ends, the commands are killed and the directory $1 is removed.
# The input is a pipe from the program that started the cluster: it ends with that program, also when that was killed.
pids=$1/pids
started=0
: >"$pids"
while IFS= read -r command; do
  (
    eval "exec $command" &
    echo $! >>"$pids"
    wait $!
    echo "ended with status $?: $command"
  ) &
  started=$((started + 1))
done
# The last command may be so new that its process is not known yet.
while [ "$(wc -l <"$pids")" -lt "$started" ]; do sleep 0.1; done
xargs kill -KILL <"$pids"
# The programs are children of this shell, so no trace of them stays in the process table either.
wait
rm -rf "$1"
