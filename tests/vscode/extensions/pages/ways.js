// What a page of an extension tries, in the browser: each way has a port of its own, so that somebody who only connects there
// is noticed as well. Served by nobody: it is written into the page.
"use strict";

/**
 * @param {Record<string, number>} ports of each way
 * @param {string[] | undefined} only these; none: what honest pages do
 * @param {string} picture an address of a file of the extension's
 * @param {{ postMessage(message: unknown): void }} api
 */
module.exports = async (ports, only, picture, api) => {
  const at = (way) => `http://127.0.0.1:${ports[way]}/${way}`;
  const frameOf = (fill) => {
    const frame = document.createElement("iframe");
    fill(frame);
    document.body.append(frame);
    return frame;
  };
  const element = (name, members) => {
    const made = Object.assign(document.createElement(name), members);
    document.body.append(made);
    return made;
  };
  /** The frame around this page, of the same origin: VS Code hides it from `parent`. */
  const framesOf = (one) => [...Array(one.length).keys()].map((i) => one[i]);
  const outer = framesOf(window.top).find((one) => framesOf(one).includes(window));
  const blob = (text, type) => URL.createObjectURL(new Blob([text], { type }));
  const here = new URL(location.href);
  const own = (name) => new URL(name, here).href;
  const rtc = (realm, port) => {
    const peer = new realm.RTCPeerConnection({ iceServers: [{ urls: `stun:127.0.0.1:${port}` }, { urls: `turn:127.0.0.1:${port}?transport=tcp`, username: "a", credential: "a" }] });
    peer.createDataChannel("a");
    return peer.createOffer().then((offer) => peer.setLocalDescription(offer));
  };
  const script = (code) => `<script>${code}</` + "script>";
  const fetchIn = (way) => `fetch(${JSON.stringify(at(way))},{mode:"no-cors"}).catch(()=>{})`;
  const rtcIn = (way) => `(()=>{const p=new RTCPeerConnection({iceServers:[{urls:"stun:127.0.0.1:${ports[way]}"},{urls:"turn:127.0.0.1:${ports[way]}?transport=tcp",username:"a",credential:"a"}]});p.createDataChannel("a");p.createOffer().then(o=>p.setLocalDescription(o))})()`;
  /** In the page of a frame of the same origin, once it is there. */
  const inside = (address, act) => frameOf((frame) => {
    frame.addEventListener("load", () => act(frame.contentWindow), { once: true });
    frame.src = address;
  });

  const ways = {
    fetch: () => fetch(at("fetch"), { mode: "no-cors" }).catch(() => {}),
    xhr: () => { const request = new XMLHttpRequest(); request.open("POST", at("xhr")); request.send("a"); },
    beacon: () => navigator.sendBeacon(at("beacon"), "a"),
    socket: () => new WebSocket(at("socket").replace("http", "ws")),
    events: () => new EventSource(at("events")),
    image: () => element("img", { src: at("image") }),
    media: () => element("video", { src: at("media"), autoplay: true, muted: true }),
    style: () => element("link", { rel: "stylesheet", href: at("style") }),
    rule: () => element("style", { textContent: `@import "${at("rule")}";` }),
    background: () => { element("div", { textContent: "a" }).style.backgroundImage = `url(${at("background")})`; },
    font: () => element("style", { textContent: `@font-face{font-family:f;src:url(${at("font")})}body{font-family:f}` }),
    script: () => element("script", { src: at("script") }),
    import: () => import(at("import")).catch(() => {}),
    prefetch: () => element("link", { rel: "prefetch", href: at("prefetch") }),
    preload: () => element("link", { rel: "preload", as: "image", href: at("preload") }),
    modulepreload: () => element("link", { rel: "modulepreload", href: at("modulepreload") }),
    preconnect: () => element("link", { rel: "preconnect", href: at("preconnect") }),
    object: () => element("object", { data: at("object") }),
    embed: () => element("embed", { src: at("embed") }),
    frame: () => frameOf((frame) => { frame.src = at("frame"); }),
    link: () => inside(own("fake.html"), (page) => { page.location = at("link"); }),
    refresh: () => inside(own("fake.html"), (page) => page.document.write(`<meta http-equiv=refresh content="0;url=${at("refresh")}">`)),
    form: () => inside(own("fake.html"), (page) => { page.document.write(`<form method=post action="${at("form")}"><input name=a value=b></form>`); page.document.forms[0].submit(); }),
    download: () => inside(own("fake.html?download"), (page) => {
      const link = Object.assign(page.document.createElement("a"), { href: at("download"), download: "a" });
      page.document.body.append(link);
      link.click();
    }),
    popup: () => window.open(at("popup")),
    blank: () => { const frame = frameOf(() => {}); frame.contentWindow.fetch(at("blank"), { mode: "no-cors" }).catch(() => {}); },
    srcdoc: () => frameOf((frame) => { frame.srcdoc = script(fetchIn("srcdoc")); }),
    sandboxed: () => frameOf((frame) => { frame.sandbox = "allow-scripts"; frame.srcdoc = script(fetchIn("sandboxed")); }),
    data: () => frameOf((frame) => { frame.src = `data:text/html,${encodeURIComponent(script(fetchIn("data")))}`; }),
    blob: () => frameOf((frame) => { frame.src = blob(script(fetchIn("blob")), "text/html"); }),
    worker: () => new Worker(blob(fetchIn("worker"), "text/javascript")),
    shared: () => new SharedWorker(blob(fetchIn("shared"), "text/javascript")),
    ownWorker: () => new Worker(own(`service-worker.js?worker`)),
    fake: () => inside(own("fake.html?again"), (page) => page.fetch(at("fake"), { mode: "no-cors" }).catch(() => {})),
    refused: () => inside(`${here.origin}/nothing`, (page) => page.fetch(at("refused"), { mode: "no-cors" }).catch(() => {})),
    missing: () => inside(own("missing.html"), (page) => page.fetch(at("missing"), { mode: "no-cors" }).catch(() => {})),
    serviceScript: () => inside(own("service-worker.js"), (page) => page.fetch(at("serviceScript"), { mode: "no-cors" }).catch(() => {})),
    long: () => inside(`${own("fake.html")}?${"a".repeat(1_200_000)}`, (page) => page.fetch(at("long"), { mode: "no-cors" }).catch(() => {})),
    outerFetch: () => outer.fetch(at("outerFetch"), { mode: "no-cors" }).catch(() => {}),
    outerImage: () => outer.document.body.append(Object.assign(outer.document.createElement("img"), { src: at("outerImage") })),
    outerFrame: () => outer.document.body.append(Object.assign(outer.document.createElement("iframe"), { src: at("outerFrame") })),
    blankRtc: () => rtc(frameOf(() => {}).contentWindow, ports.blankRtc),
    srcdocRtc: () => frameOf((frame) => { frame.srcdoc = script(rtcIn("srcdocRtc")); }),
    refusedRtc: () => inside(`${here.origin}/nothing`, (page) => rtc(page, ports.refusedRtc)),
    rtc: () => rtc(window, ports.rtc),
    // The page itself goes, or the frame around it.
    leaves: () => { location.href = at("leaves"); },
    leavesByForm: () => { element("form", { method: "post", action: at("leavesByForm") }).submit(); },
    leavesByLink: () => element("a", { href: at("leavesByLink"), download: "a" }).click(),
    leavesByRefresh: () => element("meta", { httpEquiv: "refresh", content: `0;url=${at("leavesByRefresh")}` }),
    outerLeaves: () => { outer.location.href = at("outerLeaves"); },
    outerForm: () => {
      const form = Object.assign(outer.document.createElement("form"), { method: "post", action: at("outerForm") });
      outer.document.body.append(form);
      form.submit();
    },
  };
  if (!only) return void api.postMessage({ done: true, names: Object.keys(ways), honest: await honest(picture) });
  for (const way of only) {
    try {
      void ways[way]();
    } catch (error) {
      api.postMessage({ way, error: String(error) });
    }
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  await new Promise((resolve) => setTimeout(resolve, 1500));
  api.postMessage({ done: true });

  function withBase(address) {
    const base = Object.assign(document.createElement("base"), { href: address });
    document.head.append(base);
    const set = document.baseURI.endsWith("/picture.svg");
    base.remove();
    return set ? "set" : document.baseURI;
  }

  /** What pages of honest extensions do without a network. */
  async function honest(address) {
    const loads = (name, members) => new Promise((resolve) => {
      const made = Object.assign(document.createElement(name), members, { onload: () => resolve("loaded"), onerror: () => resolve("failed") });
      document.head.append(made);
      setTimeout(resolve, 3000, "silent");
    });
    const wasm = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
    const pixel = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==";
    return {
      fetch: await fetch(address).then(async (answer) => `${answer.status} ${(await answer.text()).length > 0}`, String),
      image: await loads("img", { src: address }),
      data: await loads("img", { src: pixel }),
      blob: await loads("script", { src: blob("window.fromBlob = 1", "text/javascript") }),
      eval: String((0, eval)("1+1")),
      wasm: await WebAssembly.instantiate(wasm).then(() => "made", String),
      worker: await new Promise((resolve) => {
        const worker = new Worker(blob("postMessage('works')", "text/javascript"));
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = () => resolve("failed");
      }),
      storage: (localStorage.setItem("a", "b"), localStorage.getItem("a")),
      base: withBase(address),
      rtc: typeof RTCPeerConnection,
    };
  }
};
