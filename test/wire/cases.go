// Sends each recorded case with the generated client: `cases URL FILE`. The body and the answer are read into the types of the
// client and written again, and nothing may be lost. Members that are null count as absent.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"reflect"
	"strings"

	"example.com/millrace/client"
)

type recorded struct {
	ID     string
	Tag    string
	Body   json.RawMessage
	Answer json.RawMessage
}

func main() {
	configuration := millrace.NewConfiguration()
	configuration.Servers = millrace.ServerConfigurations{{URL: os.Args[1]}}
	api := reflect.ValueOf(millrace.NewAPIClient(configuration)).Elem()
	text, err := os.ReadFile(os.Args[2])
	check(err)
	var cases []recorded
	check(json.Unmarshal(text, &cases))
	failed := 0
	for _, one := range cases {
		if err := send(api.FieldByName(one.Tag+"API"), one); err != nil {
			failed++
			fmt.Println(one.ID, string(one.Body), err)
		}
	}
	fmt.Println(len(cases), "cases,", failed, "failed")
	if failed > 0 || len(cases) == 0 {
		os.Exit(1)
	}
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// Calls an operation of a service of the client.
func send(service reflect.Value, one recorded) error {
	call := service.MethodByName(camel(one.ID))
	if !call.IsValid() {
		return fmt.Errorf("no method %s", camel(one.ID))
	}
	request := call.Call([]reflect.Value{reflect.ValueOf(context.Background())})[0]
	if one.Body != nil {
		set := bodyOf(request)
		body := reflect.New(set.Type().In(0))
		if err := same(one.Body, body); err != nil {
			return err
		}
		request = set.Call([]reflect.Value{body.Elem()})[0]
	}
	found := request.MethodByName("Execute").Call(nil)
	if err, _ := found[len(found)-1].Interface().(error); err != nil {
		return err
	}
	if one.Answer == nil || string(one.Answer) == "null" || len(found) < 3 {
		return nil
	}
	// The answer itself was read already. One like it is also written again.
	return same(one.Answer, reflect.New(found[0].Type()))
}

// The setter of the body: it takes a type of the client, or has the name of a body without a type. Parameters of the query and
// headers are of Go's own types.
func bodyOf(request reflect.Value) reflect.Value {
	for i := 0; i < request.NumMethod(); i++ {
		method := request.Method(i)
		if request.Type().Method(i).Name == "Body" {
			return method
		}
		if method.Type().NumIn() == 1 && strings.HasSuffix(method.Type().In(0).PkgPath(), "/client") {
			return method
		}
	}
	panic("no body in " + request.Type().String())
}

// Reads a value as a type, and writes it again.
func same(value []byte, into reflect.Value) error {
	if err := json.Unmarshal(value, into.Interface()); err != nil {
		return fmt.Errorf("%s: %w", value, err)
	}
	again, err := json.Marshal(into.Interface())
	if err != nil {
		return err
	}
	if at := difference(parsed(value), parsed(again), ""); at != "" {
		return fmt.Errorf("another value at %s", at)
	}
	return nil
}

func parsed(text []byte) any {
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.UseNumber()
	var value any
	check(reader.Decode(&value))
	return value
}

// The first place where two values differ; empty if there is none.
func difference(a, b any, at string) string {
	told := fmt.Sprintf("%s: %v became %v", at, a, b)
	switch x := a.(type) {
	case json.Number:
		y, isNumber := b.(json.Number)
		if !isNumber {
			return told
		}
		first, _ := new(big.Rat).SetString(x.String())
		second, _ := new(big.Rat).SetString(y.String())
		if first.Cmp(second) == 0 {
			return ""
		}
	case map[string]any:
		y, isMap := b.(map[string]any)
		if !isMap {
			return told
		}
		for name := range y {
			if _, isThere := x[name]; !isThere && y[name] != nil {
				return told
			}
		}
		for name, value := range x {
			if value == nil && y[name] == nil {
				continue
			}
			if found := difference(value, y[name], at+"/"+name); found != "" {
				return found
			}
		}
		return ""
	case []any:
		y, isList := b.([]any)
		if !isList || len(x) != len(y) {
			return told
		}
		for i := range x {
			if found := difference(x[i], y[i], fmt.Sprintf("%s/%d", at, i)); found != "" {
				return found
			}
		}
		return ""
	}
	if reflect.DeepEqual(a, b) {
		return ""
	}
	return told
}

func camel(name string) string {
	text := ""
	for _, word := range strings.Split(name, "_") {
		text += strings.ToUpper(word[:1]) + word[1:]
	}
	return text
}
