// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

namespace go fairway.echo

// How a call is to fail.
enum Failure {
  NONE = 0
  // The handler returns a business status error: the call has worked, the business has not.
  BUSINESS = 1
  // The handler returns an error, which reaches the caller as a remote error.
  REMOTE = 2
}

struct Request {
  1: string message
  // How long the handler takes, in milliseconds.
  2: i32 delay_ms
  3: Failure failure
}

struct Response {
  1: string message
  // Who answered: the provider's address.
  2: string instance
}

service EchoService {
  Response Echo(1: Request request)
  oneway void Notify(1: Request request)
  // One response to many requests.
  Response Collect(1: Request request) (streaming.mode = "client")
  // Many responses to one request.
  Response Repeat(1: Request request) (streaming.mode = "server")
  // A response to each request.
  Response Chat(1: Request request) (streaming.mode = "bidirectional")
}
