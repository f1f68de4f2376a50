# The agent starts containers through the socket of Docker: whoever controls the agent is root on this machine.
socket=$(docker context inspect --format '{{.Endpoints.docker.Host}}')
case $socket in
  unix://*) socket=${socket#unix://} ;;
  *) echo "Docker is at $socket. Run this script on the machine where that Docker Engine runs, without DOCKER_HOST." >&2; exit 1 ;;
esac
# A virtual machine has its own socket.
if [ "$(uname)" != Linux ] || [ "$(docker info --format '{{.OperatingSystem}}')" = 'Docker Desktop' ]; then
  socket=@socket@
elif [ ! -S "$socket" ]; then
  echo "$socket is not a socket." >&2
  exit 1
fi
