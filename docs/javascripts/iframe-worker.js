// Search in pages that are opened from disk, where browsers refuse web workers: run the worker's script in an iframe.
// Material's offline plugin would load such a script from a CDN.
class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    this.waiting = [];
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.append(this.frame);
    this.post = this.frame.contentWindow.postMessage.bind(this.frame.contentWindow);  // the worker gets another one
    addEventListener("message", (event) => {
      if (event.source === this.frame.contentWindow) {
        this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      }
    });
    this.frame.isLoaded = () => {
      const waiting = this.waiting;
      this.waiting = null;
      waiting.forEach((message) => this.postMessage(message));
    };
    const inside = this.frame.contentWindow.document;
    inside.open();
    inside.write(`<!doctype html><body><script>
      postMessage = parent.postMessage.bind(parent);
      importScripts = async (...urls) => {
        for (const url of urls) {
          await new Promise((done) => {
            const script = document.createElement("script");
            script.src = url;
            script.onload = done;
            document.body.append(script);
          });
        }
      };
    </script><script src="${url}"></script><script>frameElement.isLoaded();</script>`);
    inside.close();
  }
  postMessage(message) {
    if (this.waiting) {
      this.waiting.push(message);
    } else {
      this.post(message, "*");
    }
  }
  terminate() {
    this.frame.remove();
  }
}
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = FrameWorker;
}
