exists() {
  docker container inspect "$1" >/dev/null 2>&1
}

# Creates the new container before it stops the previous one. If the new one does not start, the previous one is started again.
start() {
  name=$1
  shift
  for each in "$name" "$name.next" "$name.previous"; do
    exists "$each" || continue
    owner=$(docker container inspect --format '{{index .Config.Labels "@label@"}}' "$each")
    [ "$owner" = @release@ ] || { echo "A container $each exists, and this script did not start it." >&2; exit 1; }
  done
  # Left by an interrupted run of this script.
  if exists "$name.previous"; then
    if [ "$(docker container inspect --format '{{.State.Running}}' "$name" 2>/dev/null)" = true ]; then
      docker rm "$name.previous" >/dev/null
    else
      if exists "$name"; then docker rm "$name" >/dev/null; fi
      docker rename "$name.previous" "$name"
      docker start "$name" >/dev/null
    fi
  fi
  if exists "$name.next"; then docker rm "$name.next" >/dev/null; fi
  docker create --name "$name.next" "$@" >/dev/null
  before=
  if exists "$name"; then
    before=$name.previous
    docker stop@stop@ "$name" >/dev/null
    docker rename "$name" "$before"
  fi
  docker rename "$name.next" "$name"
  if docker start "$name" >/dev/null; then
    [ -z "$before" ] || docker rm "$before" >/dev/null
    return
  fi
  docker rm --force "$name" >/dev/null
  [ -n "$before" ] || exit 1
  docker rename "$before" "$name"
  docker start "$name" >/dev/null
  echo "The previous container $name is running again." >&2
  exit 1
}
