# Varnish in front of Drover: however many watch, Drover is asked once for each
# segment, each version of a playlist and, of low-latency HLS, each part. All who wait
# for the same wait for one request. Debian's Varnish (7.1 or newer):
#
#     varnishd -a :8080 -f /path/to/varnish.vcl -s malloc,1g
#
# The tests run this very file, with another address. Varnish does not check links
# by itself: below /s/ each link has copies of its own here, and Drover checks it for
# each copy. For crowds by links, take nginx.conf.

vcl 4.1;

import std;

backend drover {
  .host = "127.0.0.1";
  .port = "8090";
  # A request for a part that is not there yet is answered when it is.
  .first_byte_timeout = 60s;
}

sub vcl_recv {
  # Drover has no login yet: ask for one here, or let in media alone. Its API answers
  # by names that it knows: set http.allowed_hosts there to those that this server has.
  if (req.method != "GET" && req.method != "HEAD") {
    return (pass);
  }
  # Media and the app's files are the same for everybody.
  if (req.url ~ "^(/s/[^/]+)?/hls/" || req.url ~ "^/assets/") {
    unset req.http.Cookie;
    unset req.http.Authorization;
    # Of the query, only that of low-latency HLS changes an answer.
    if (req.url ~ "[?&]_HLS_msn=") {
      set req.url = regsub(req.url, "\?.*", "") + "?_HLS_msn=" + regsub(req.url, ".*[?&]_HLS_msn=([^&]*).*", "\1") +
        regsub(regsub(req.url, ".*[?&](_HLS_part=[^&]*).*", "&\1"), "^[^&].*", "") +
        regsub(regsub(req.url, ".*[?&](_HLS_skip=[^&]*).*", "&\1"), "^[^&].*", "");
    } elsif (req.url ~ "[?&]_HLS_skip=") {
      set req.url = regsub(req.url, "\?.*", "") + "?" + regsub(req.url, ".*[?&](_HLS_skip=[^&]*).*", "\1");
    } else {
      set req.url = regsub(req.url, "\?.*", "");
    }
    return (hash);
  }
  return (pass);
}

sub vcl_backend_response {
  # While a new version is fetched, the old one may be handed out, but not for longer
  # than a segment lasts: players would stall. Drover says how long that is.
  if (bereq.url ~ "\.m3u8") {
    set beresp.grace = 1s;
    if (beresp.http.Cache-Control ~ "stale-if-error=[0-9]+") {
      set beresp.grace = std.duration(regsub(beresp.http.Cache-Control, ".*stale-if-error=([0-9]+).*", "\1") + "s", 1s);
    }
  }
  # A link that is refused now may be good in a moment, and the other way round.
  if (beresp.http.Cache-Control ~ "no-store") {
    set beresp.uncacheable = true;
    set beresp.ttl = 1s;
    return (deliver);
  }
}
