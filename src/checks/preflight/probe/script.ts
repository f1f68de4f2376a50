import {MANIFEST_TYPES} from '../../../settings/kinds/images.ts';

/** Timeouts; the metadata service is on the node. */
export const SCALR_SECONDS = 10;
const METADATA_SECONDS = 3;
const REGISTRY_SECONDS = 5;
/** Requests at the same time; each is a process in a small container. */
const AT_ONCE = 4;

/**
 * The script of the probe container. Agent images differ, so it uses the first of curl, GNU wget and Python that it finds, and
 * only writes into the directories that are its arguments. In a command Kubernetes turns $$ into $ and expands $(VARIABLE).
 *
 * It requests PROBE_URL, PROBE_REGISTRIES, PROBE_MANIFESTS and PROBE_URLS through the proxy of the environment, trusting only PROBE_CA where that is set. Without a proxy, it
 * connects to the gRPC servers of PROBE_TELEMETRY, and requests PROBE_METADATA up to PROBE_TRIES times while it answers: some engines enforce a policy only moments after a pod has started.
 */
export const SCRIPT = `
say() { printf 'probe %s\\n' "$*"; }

: "\${http_proxy:=\${HTTP_PROXY-}}" "\${https_proxy:=\${HTTPS_PROXY-}}" "\${no_proxy:=\${NO_PROXY-}}"
export http_proxy https_proxy no_proxy

python='
import socket, ssl, sys, urllib.error, urllib.request
url, seconds, ca, direct, accept = (sys.argv[1:] + [""])[:5]
class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *rest):
        return None
handlers = [Stay, urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=ca or None))]
if direct:
    handlers.append(urllib.request.ProxyHandler({}))
def ask():
    try:
        asked = urllib.request.Request(url, headers={"Accept": accept or "*/*"}, method="HEAD" if accept else "GET")
        return "ok %d" % urllib.request.build_opener(*handlers).open(asked, timeout=float(seconds)).status
    except urllib.error.HTTPError as error:
        return "proxy 407" if error.code == 407 else "ok %d" % error.code
    except Exception as error:
        reason = getattr(error, "reason", error)
        if "Tunnel connection failed" in str(reason):
            return "proxy " + str(reason).split()[3]
        for kind, word in (
            (ssl.SSLCertVerificationError, "untrusted"),
            (ssl.SSLError, "tls"),
            (socket.gaierror, "dns"),
            (ConnectionRefusedError, "refused"),
            (socket.timeout, "timeout"),
        ):
            if isinstance(reason, kind):
                return word
        return "failed " + type(reason).__name__
print(ask())
'

by_curl() {
  set -- "$1" "$2" \${3:+--cacert "$3" --capath /dev/null} \${4:+--noproxy '*'} \${5:+--head --header "Accept: $5"}
  url=$1 seconds=$2
  shift 2
  output=$(curl --silent --output /dev/null --max-time "$seconds" --write-out '%{http_code} %{http_connect}' "$@" "$url")
  code=$? connect=\${output#* } status=\${output%% *}
  case $code-$connect-$status in
    0-*-407) echo proxy 407 ;;
    0-*) echo ok "$status" ;;
    *-000-* | *-200-*)
      case $code in
        5) echo proxy-dns ;;
        6) echo dns ;;
        7) echo refused ;;
        28) echo timeout ;;
        35) echo tls ;;
        51 | 60) echo untrusted ;;
        *) echo failed "$code" ;;
      esac ;;
    *) echo proxy "$connect" ;;
  esac
}

by_wget() {
  set -- "$1" "$2" \${3:+--ca-certificate="$3" --ca-directory=/dev/null} \${4:+--no-proxy} \${5:+--spider --header="Accept: $5"}
  url=$1 seconds=$2
  shift 2
  output=$(LC_ALL=C wget --server-response --output-document=/dev/null --timeout="$seconds" --tries=1 --max-redirect=0 "$@" "$url" 2>&1)
  code=$?
  status=\${output##*HTTP/1.? }
  status=\${status%%[!0-9]*}
  case $code-$output in
    *'Proxy Authentication'* | *' 407 '*) echo proxy 407 ;;
    *'tunneling failed: '*) output=\${output##*tunneling failed: } && echo proxy "\${output%%Unable*}" ;;
    0-* | 6-* | 8-*) echo ok "$status" ;;
    *'unable to resolve'*) echo dns ;;
    *refused*) echo refused ;;
    *'timed out'*) echo timeout ;;
    5-*'verify'* | 5-*'certificate'*) echo untrusted ;;
    5-* | *'establish SSL'*) echo tls ;;
    *) echo failed "$code" ;;
  esac
}

by_python() { python3 -c "$python" "$@" || echo failed python3; }

tool=
if command -v curl >/dev/null 2>&1; then tool=by_curl
elif case $(wget --version 2>&1) in *GNU*) ;; *) false ;; esac; then tool=by_wget
elif command -v python3 >/dev/null 2>&1; then tool=by_python
fi

for directory; do
  file=$directory/.scalr-agent-probe-\${HOSTNAME-}
  if output=$( { printf '#!/bin/sh\\nexit 0\\n' >"$file" && chmod 700 "$file"; } 2>&1); then
    if "$file" >/dev/null 2>&1; then say volume ok "$directory"; else say volume noexec "$directory"; fi
  else
    case $output in
      *'ead-only'*) say volume read-only "$directory" ;;
      *'o space'* | *'quota'*) say volume full "$directory" ;;
      *) say volume denied "$directory" ;;
    esac
  fi
  rm -f "$file" 2>/dev/null
done

if [ -z "$tool" ]; then
  [ -z "\${PROBE_URL-}" ] || say scalr-url no-tool
  say metadata no-tool
else
  if [ -z "\${PROBE_URL-}" ]; then :
  elif [ -n "\${PROBE_CA-}" ] && [ ! -r "$PROBE_CA" ]; then say scalr-url no-ca
  else say scalr-url $($tool "$PROBE_URL" "\${PROBE_SECONDS:-${SCALR_SECONDS}}" "\${PROBE_CA-}" '')
  fi
  count=0
  for url in \${PROBE_REGISTRIES-}; do
    say registry "$url" $($tool "$url" ${REGISTRY_SECONDS} "\${PROBE_CA-}" '') &
    count=$((count + 1))
    [ $((count % ${AT_ONCE})) -ne 0 ] || wait
  done
  wait
  for host in \${PROBE_TELEMETRY-}; do say telemetry "$host" $($tool "http://$host/" ${REGISTRY_SECONDS} '' direct); done
  for url in \${PROBE_MANIFESTS-}; do say manifest "$url" $($tool "$url" ${REGISTRY_SECONDS} "\${PROBE_CA-}" '' '${MANIFEST_TYPES.join(', ')}'); done
  for url in \${PROBE_URLS-}; do say url "$url" $($tool "$url" ${SCALR_SECONDS} "\${PROBE_CA-}" ''); done
  tries=\${PROBE_TRIES:-1}
  while
    output=$($tool "$PROBE_METADATA" ${METADATA_SECONDS} '' direct)
    tries=$((tries - 1))
    case $output in ok*) [ "$tries" -gt 0 ] ;; *) false ;; esac
  do sleep 2; done
  say metadata $output
fi
say done
`.trim();

/** What a runner image must contain, for an init container of the probe pod: agent-job 0.6.5, README. */
export const RUNNER_SCRIPT = `
if grep -q '^[^:]*:[^:]*:1000:1000:' /etc/passwd; then echo probe runner-user ok; else echo probe runner-user missing; fi
if command -v curl >/dev/null 2>&1; then echo probe runner-curl ok; else echo probe runner-curl missing; fi
`.trim();
