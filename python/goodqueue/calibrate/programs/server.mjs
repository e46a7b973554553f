// The server of mach: HTTP/2 and HTTP/1.1 over TLS. `node server.mjs PORT FOLDER`; FOLDER has key.pem and
// certificate.pem. /large never ends, any other answer has one byte, and what is uploaded is thrown away.
import { createSecureServer } from "node:http2";
import { readFileSync } from "node:fs";
import { Readable } from "node:stream";

const [, , port, folder] = process.argv;
const WINDOW_BYTES = 2 ** 28; // so large that HTTP/2's windows never limit an upload
const ZEROS = Buffer.alloc(16384); // a record of TLS

const endless = () => new Readable({ read() { this.push(ZEROS); } });
const file = (name) => readFileSync(`${folder}/${name}.pem`);
const options = { allowHTTP1: true, key: file("key"), cert: file("certificate") };
const server = createSecureServer({ ...options, settings: { initialWindowSize: WINDOW_BYTES } }, (request, response) => {
  request.on("error", () => {});
  response.on("error", () => {});
  if (request.url === "/large") {
    const body = endless();
    response.on("close", () => body.destroy());
    body.pipe(response);
  } else {
    request.resume().on("end", () => response.end("x"));
  }
});
server.on("session", (session) => session.setLocalWindowSize(WINDOW_BYTES));
server.on("sessionError", () => {});
server.listen(Number(port));
